// A reader with a browser: what the tests of pages share.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { launch, proxy, service } from './browser.mjs'

export let context, faults, statuses
let browser

before(async () => { browser = await launch() })
after(() => browser.close())

// Each test is a reader with an empty cache.
beforeEach(async () => {
  context = await browser.newContext()
  context.setDefaultTimeout(60_000)
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`))
  })
  faults = []
  statuses = []
  context.on('console', (m) => { if (['error', 'warning'].includes(m.type())) faults.push(`console: ${m.text()}`) })
  context.on('weberror', (e) => faults.push(`page: ${e.error()}`))
  context.on('requestfailed', (r) => faults.push(`${r.url()}: ${r.failure()?.errorText}`))
  context.on('request', (r) => { if (!/^(data|blob):/.test(r.url()) && ![service, proxy].includes(new URL(r.url()).origin)) faults.push(`elsewhere: ${r.url()}`) })
  context.on('response', (r) => {
    statuses.push(r.status())
    if (r.status() >= 400) faults.push(`${r.url()}: ${r.status()}`)
  })
})

// reader is a test that ends with a look at what went wrong on the way. Faults that match expected
// belong to the test.
export function reader(name, what, expected = /^$/) {
  test(name, async () => {
    await what()
    await context.close()
    assert.deepEqual(faults.filter((f) => !expected.test(f)), [])
  })
}
