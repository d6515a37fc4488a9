// Drives the pages of a running service as a reader does. browser_test.go says how it is started.
import assert from 'node:assert/strict'
import { key, service } from './browser.mjs'
import { context, reader, statuses } from './reader.mjs'

// ids returns the ids of all operations that the document of the service describes.
async function ids() {
  const { paths } = await (await fetch(service + '/openapi.json')).json()
  return Object.values(paths).flatMap((path) => Object.values(path)).map((o) => o.operationId).filter(Boolean)
}

// operations waits until a page shows all operations.
async function operations(page) {
  const { length } = await ids()
  await page.locator('.opblock').nth(length - 1).waitFor()
  assert.equal(await page.locator('.opblock').count(), length)
}

async function open() {
  const page = await context.newPage()
  await page.goto(service + '/docs')
  await operations(page)
  return page
}

reader('the root leads to the docs', async () => {
  const page = await context.newPage()
  await page.goto(service)
  await page.getByRole('link', { name: 'The interface' }).click()
  await operations(page)
})

reader('a reload shows the page again', async () => {
  const page = await open()
  for (let i = 0; i < 2; i++) {
    await page.reload()
    await operations(page)
  }
  assert.ok(statuses.includes(304), 'no file was asked for again')
})

reader('a second tab shows the page as well', async () => {
  await open()
  await open()
})

// tryOut tries an operation with the examples that stand there, and returns the status and text that the page shows. It
// closes the operation again: the page takes longer for each one that is open.
async function tryOut(page, operation) {
  const block = page.locator(`.opblock[id$="-${operation}"]`)
  await block.locator('.opblock-summary-control').click()
  await block.getByRole('button', { name: 'Try it out' }).click()
  await block.getByRole('button', { name: 'Execute' }).click()
  const answer = block.locator('.live-responses-table .response')
  const status = await answer.locator('.response-col_status').innerText()
  const text = await answer.locator('.response-col_description .highlight-code').first().innerText()
  await block.locator('.opblock-summary-control').click()
  return { status: status.trim(), text }
}

// needMore are the operations about something that no example makes.
const needMore = [
  'endSession', 'getWebhook', 'changeWebhook', 'deleteWebhook', 'testWebhook', 'rewindWebhook', 'listDeliveries', 'rotateWebhookSecret',
  'getReject', 'resubmitReject', 'dismissReject', 'getRejectJob',
]

reader('every operation can be tried out with its examples', async () => {
  const page = await open()
  await page.locator('.btn.authorize').click()
  const dialog = page.locator('.modal-ux')
  await dialog.locator('input').first().fill(key)
  await dialog.getByRole('button', { name: 'Apply credentials' }).first().click()
  await dialog.getByRole('button', { name: 'Close' }).first().click()
  const told = {
    processbim: 'SVCPRB037', bagsforflight: '0724100001', history: 'LX100', bagsforpassenger: '0724100001', delayedbags: 'record_reference',
  }
  for (const [operation, want] of Object.entries(told)) {
    const { status, text } = await tryOut(page, operation)
    assert.ok(status === '200' && text.includes('"success": true') && text.includes(want), `${operation}: ${status} ${text}`)
  }
  for (const operation of await ids()) {
    if (operation in told || needMore.includes(operation)) continue
    const { status, text } = await tryOut(page, operation)
    assert.ok(['200', '201', '202'].includes(status) && text.includes('{'), `${operation}: ${status} ${text}`)
  }
})
