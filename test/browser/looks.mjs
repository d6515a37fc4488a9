// What the tests of the console share: the login, and how a page must look.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { key, require, service } from './browser.mjs'
import { context } from './reader.mjs'

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

// login opens a page of the console with a key, in a new page unless one is given. origin is the
// service, or a proxy before it.
export async function login(target = '/console/search', as = key, given = null, origin = service) {
  const page = given ?? await context.newPage()
  await page.goto(origin + target)
  await page.locator('#key').fill(as)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(origin + target)
  return page
}

// accessible looks for violations of the rules of axe-core.
export async function accessible(page, where) {
  // The tester's script comes by the protocol of the browser, since the policy of the page refuses it.
  if (!await page.evaluate(() => 'axe' in globalThis)) await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ['violations'] })
    return violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 150) + ' ' + n.failureSummary).join('; ')}`)
  })
  assert.deepEqual(found, [], where)
}

// fits looks whether a page is no wider than a window of that width.
export async function fits(page, where, width) {
  await page.setViewportSize({ width, height: 800 })
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  assert.ok(over <= 0, `${where} is ${over} px wider than ${width} px`)
}

// sizes are the widths and colours in which a page is looked at.
const sizes = [[320, 'light'], [390, 'light'], [390, 'dark'], [1280, 'dark'], [1280, 'light'], [2560, 'light']]

// screen looks at a page in narrow and wide, light and dark, and once on a very wide screen. The
// rules are checked last, without the rows after the first 30, which have the same form.
export async function screen(page, where) {
  for (const check of [false, true]) {
    for (const [width, colorScheme] of sizes) {
      await page.emulateMedia({ colorScheme })
      await fits(page, where, width)
      if (check && width < 2000) await accessible(page, `${where} ${width} ${colorScheme}`)
    }
    await page.evaluate(() => [...[...document.querySelectorAll('tbody tr')].slice(30), ...document.querySelectorAll('ol li:nth-child(n+31)')].forEach((e) => e.remove()))
  }
}
