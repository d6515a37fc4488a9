// Uses the console of a running service as people do. browser_test.go says what the service holds.
import assert from 'node:assert/strict'
import { key, live, send, service } from './browser.mjs'
import { accessible, fits, login, screen } from './looks.mjs'
import './screens.mjs' // its tests come first, in the same browser
import { context, reader } from './reader.mjs'

const { DATE: date, DAY: day } = process.env
const flight = `/console/flights/ZRH/D/LX/500/${date}`
const board = `/console/flights?airport=ZRH&direction=D&date=${date}`

// load has a bag of a flight, LX500 if none is given, loaded.
async function load(plate, device, flight = 'LX500') {
  assert.equal(await send(`BPM\r\n.V/1LZRH\r\n.J/R\r\n.F/${flight}/${day}/JFK\r\n.U/${device}/31L\r\n.N/${plate}001\r\nENDBPM\r\n`), 200)
}

// openReject opens a reject from the list, which has it in a moment.
async function openReject(page, text) {
  const mine = page.locator('.rows a').filter({ hasText: text })
  for (let i = 0; i < 50 && !await mine.count(); i++) await page.reload()
  await mine.click()
  await page.waitForURL('**/rejects/*')
}

reader('a key opens the console, and closes it', async () => {
  const page = await context.newPage()
  await page.goto(service + flight)
  await screen(page, 'login')
  await page.locator('#key').fill('not a key')
  await page.keyboard.press('Enter')
  await page.getByText('This key is not known').waitFor()
  await accessible(page, 'login refused')
  await page.locator('#key').fill(key)
  await page.keyboard.press('Enter')
  await page.waitForURL(service + flight)
  await page.locator('.me summary').click()
  await accessible(page, 'menu')
  await page.getByRole('button', { name: 'Dark' }).click()
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(11, 14, 19)')
  await page.reload()
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark')
  await page.locator('.me summary').click()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.waitForURL('**/console/login')
  await page.goto(service + flight)
  await page.waitForURL('**/console/login?**')
}, /401|ERR_ABORTED/)

reader('a session that ends leads to the login and back', async () => {
  const page = await login(flight)
  await context.clearCookies()
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange'))) // asks anew
  await page.waitForURL('**/console/login?**')
  await page.getByText('your session has ended').waitFor()
  await page.locator('#key').fill(key)
  await page.keyboard.press('Enter')
  await page.waitForURL(service + flight)
}, /401|ERR_ABORTED/)

reader('a filter outlives the login, also one that is refused first', async () => {
  const page = await login(flight)
  for (const leave of ["document.dispatchEvent(new Event('visibilitychange'))", 'location.reload()']) {
    await page.locator('[data-filter]').fill('0724500003')
    await page.waitForFunction(() => location.hash.includes('0724500003'))
    await context.clearCookies()
    await page.evaluate(leave)
    await page.waitForURL('**/console/login?**')
    await page.locator('#key').fill('not a key')
    await page.keyboard.press('Enter')
    await page.getByText('This key is not known').waitFor()
    await page.locator('#key').fill(key)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${service}${flight}#filter=0724500003`)
    assert.equal(await page.locator('#rows tbody tr:visible').count(), 1)
  }
}, /401|ERR_ABORTED/)

reader('a bag that leaves a flight is struck out at once, also one of two with its plate', async () => {
  const bsm = (change, name, pnr) => send(`BSM\r\n${change}.V/1LZRH\r\n.F/LX800/${day}/JFK/Y\r\n.N/0724800037001\r\n.P/1${name}/ANNA\r\n.L/${pnr}\r\nENDBSM\r\n`)
  assert.equal(await bsm('', 'KELLER', 'KE8037'), 200)
  const page = await login(flight.replace('500', '800'))
  await live(page)
  await page.locator('#b-0724800037-2').waitFor()
  for (const [id, name, pnr] of [['b-0724800037-2', 'KELLER', 'KE8037'], ['b-0724800037', 'MUELLER', 'AB8037']]) {
    assert.equal(await bsm('DEL\r\n', name, pnr), 200)
    await page.locator(`#${id}.left`).waitFor({ timeout: 5000 })
  }
}, /ERR_ABORTED/)

reader('a button that goes away leaves the focus beside it', async () => {
  const page = await login(flight.replace('500', '800'))
  await page.locator('[data-filter]').fill('nothing')
  await page.getByRole('button', { name: 'Clear the filter' }).press('Enter')
  assert.equal(await page.evaluate(() => document.activeElement.id), 'f')
  assert.equal(await page.locator('#rows tbody tr').first().isVisible(), true)
  await live(page)
  await load('0724800038', 'AKE12345LX', 'LX800')
  await page.getByRole('button', { name: 'Sort again, 1 changed' }).press('Enter')
  assert.equal(await page.evaluate(() => document.activeElement.textContent.trim()), 'Status')
  await page.goto(service + '/console/feeds')
  await page.locator('[data-filter]').fill('nothing')
  await page.getByRole('button', { name: 'Clear the filter' }).press('Enter')
  assert.equal(await page.locator('#rows tbody tr').first().isVisible(), true)
}, /ERR_ABORTED/)

reader('a page that is not there says so', async () => {
  const page = await login()
  for (const target of ['/console/nothing', '/console/bags/1', `/console/flights/QQQ/D/LX/500/${date}`]) {
    await page.goto(service + target)
    await accessible(page, target)
  }
}, /40[04]|ERR_ABORTED/)

// focused checks that what has the focus shows it, and that nothing lies over it.
async function focused(page) {
  const seen = await page.evaluate(() => {
    const e = document.activeElement, r = e.getBoundingClientRect(), { outlineStyle } = getComputedStyle(e)
    const top = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)
    return { e: e.outerHTML.slice(0, 200), ok: outlineStyle !== 'none' && (e.contains(top) || top?.contains(e)) }
  })
  assert.ok(seen.ok, `the focus is not seen: ${seen.e}`)
}

reader('the keyboard alone leads from the login to a flight, a bag and a search', async () => {
  const page = await context.newPage()
  await page.goto(service + board)
  await page.locator('#key:focus').waitFor() // a browser may move the focus after the page is loaded
  await page.keyboard.type(key)
  await page.keyboard.press('Enter')
  await page.waitForURL(service + board)
  const text = () => page.evaluate(() => document.activeElement.innerText)
  for (let i = 0; i < 20 && await text() !== 'LX500'; i++) await page.keyboard.press('j')
  await focused(page)
  await page.keyboard.press('Enter')
  await page.waitForURL(service + flight)
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press('Tab')
    await focused(page)
  }
  await page.locator('body').press('/')
  await page.keyboard.press('Escape')
  for (const k of ['j', 'j', 'k', 'j']) await page.keyboard.press(k)
  const second = await page.locator('#rows tbody tr a').nth(1).getAttribute('href')
  await page.keyboard.press('Enter')
  await page.waitForURL(service + second)
  await page.keyboard.press('/')
  await page.keyboard.type('mueller lx500')
  await page.keyboard.press('Enter')
  await page.getByText('40 bags').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/bags/0724500*')
  await page.keyboard.press('?')
  await page.locator('dialog[open]').waitFor()
  await accessible(page, 'keys')
  await page.locator('#keys-on').press(' ')
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  assert.notEqual(await page.evaluate(() => document.activeElement.id), 'q')
}, /ERR_ABORTED/)

reader('the menu can be used at 400 %, and Escape leads back to its button', async () => {
  const page = await login(flight)
  await page.setViewportSize({ width: 320, height: 256 }) // 1280 by 1024 pixels
  await page.locator('.me summary').press('Enter')
  for (const name of ['Dark', 'Set', 'Log out']) {
    await page.getByRole('button', { name, exact: true }).focus()
    const seen = await page.evaluate(() => {
      const r = document.activeElement.getBoundingClientRect(), top = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)
      return document.activeElement.contains(top) ? 'seen' : `${document.activeElement.outerHTML} at ${r.y} under ${top?.outerHTML.slice(0, 200)}`
    })
    assert.equal(seen, 'seen', name)
  }
  await page.keyboard.press('Escape')
  assert.equal(await page.locator('.me[open]').count(), 0)
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'SUMMARY')
}, /ERR_ABORTED/)

reader('a click anywhere on a row opens it, and one that marks text does not', async () => {
  const page = await login(board)
  await page.locator(`#f-LX-500-${date} svg.load`).click()
  await page.waitForURL(service + flight)
  const row = page.locator('#rows tbody tr').first(), bag = service + await row.locator('a').getAttribute('href')
  await row.locator('td.who').click()
  await page.waitForURL(bag)
  await page.goBack()
  await page.evaluate(() => getSelection().selectAllChildren(document.querySelector('#rows tbody td.who')))
  await row.locator('td.who').dispatchEvent('click')
  assert.equal(page.url(), service + flight)
}, /ERR_ABORTED/)

reader('the head of the bags is one line at every width', async () => {
  const page = await login(flight)
  for (const [width, columns] of [[390, 2], [800, 6], [1280, 9]]) {
    await page.setViewportSize({ width, height: 800 })
    const tops = await page.locator('#rows thead th:visible').evaluateAll((all) => all.map((th) => th.getBoundingClientRect().top))
    assert.deepEqual([tops.length, new Set(tops).size], [columns, 1], `${width} pixels: ${tops}`)
  }
}, /ERR_ABORTED/)

reader('a narrow row tells where a bag was seen last, and when, and that it is a rush bag', async () => {
  assert.equal(await send(`BSM\r\n.V/1LZRH\r\n.F/LX506/${day}/JFK\r\n.N/2724700042001\r\n.E/RUSH\r\nENDBSM\r\n`), 200)
  const page = await login(flight.replace('500', '506'))
  await page.setViewportSize({ width: 390, height: 800 })
  const row = page.locator('#b-2724700042')
  await row.getByText('Rush').waitFor()
  await row.getByText('Re-flighted ZRH').waitFor()
  assert.match(await row.locator('.when time').evaluate((e) => getComputedStyle(e, '::after').content), /ago/)
  assert.match(await row.locator('.when time').getAttribute('data-utc'), /^\d\d:\d\dZ$/)
}, /ERR_ABORTED/)

reader('the head of the feeds is whole on a narrow screen, and a long seat takes one line', async () => {
  assert.equal(await send(`BSM\r\n.V/1LZRH\r\n.F/LX504/${day}/JFK\r\n.N/0724700041001\r\n.S/Y/${'X'.repeat(40)}/C\r\nENDBSM\r\n`), 200)
  const page = await login(flight.replace('500', '504'))
  await page.setViewportSize({ width: 1366, height: 800 })
  assert.ok((await page.locator('#b-0724700041').boundingBox()).height < 40)
  await page.goto(service + '/console/feeds')
  await page.setViewportSize({ width: 360, height: 800 })
  const cut = await page.locator('#rows thead th:visible').evaluateAll((all) => all.filter((th) => th.scrollWidth > th.clientWidth).map((th) => th.textContent))
  assert.deepEqual(cut, [])
}, /ERR_ABORTED/)

reader('a name that turns the direction turns nothing else, and carets stand under it', async () => {
  const right = (text) => `BSM\r\n.V/1LZRH\r\n.F/LX501/${day}/JFK\r\n${text}.P/1\u202eRELLIM/ANNA\r\n.L/XZ9999\r\nENDBSM\r\n`
  for (const n of [1, 2]) assert.equal(await send(right(`.N/072470002${n}001\r\n`)), 200)
  assert.equal(await send(right('.N/0724700023001\r\n.O/LX502/محمد123/JFK\r\n')), 400)
  const page = await login()
  const place = (selector, text) => page.locator(selector).first().evaluate((e, text) => {
    const walk = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), r = document.createRange()
    for (let n = walk.nextNode(); n; n = walk.nextNode()) if (n.data.includes(text)) { r.setStart(n, n.data.indexOf(text)); r.setEnd(n, n.data.indexOf(text) + 1) }
    return r.getBoundingClientRect().left
  }, text)
  await page.locator('#q').fill('\u202erellim lx501')
  await page.locator('#q').press('Enter')
  await page.getByText('2 bags').waitFor()
  assert.ok(await place('.words', 'ZRH') < await place('.words', 'JFK'))
  await page.goto(service + '/console/rejects')
  await openReject(page, 'محمد123')
  assert.ok(Math.abs(await place('#lines .bad i', '^') - await place('#lines .bad > span', 'م')) < 1)
}, /ERR_ABORTED/)

reader('a filter and an order are part of the address', async () => {
  const page = await login(flight), asked = []
  page.on('request', (r) => asked.push(r.url()))
  await page.locator('[data-filter]').fill('0724500003')
  await page.waitForFunction(() => location.hash.includes('0724500003'))
  await page.reload()
  assert.deepEqual(asked.filter((u) => new URL(u).search.includes('0724500003')), [], 'words of a filter may be names')
  assert.equal(await page.locator('#rows tbody tr:visible').count(), 1)
  await page.locator('[data-filter]').fill('nothing')
  await page.getByText('No bag matches').waitFor()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await page.getByRole('button', { name: 'Bag', exact: true }).click()
  assert.match(await page.locator('#rows tbody tr').first().innerText(), /0724 500000/)
  await page.getByRole('button', { name: 'Bag', exact: true }).click()
  await page.reload()
  assert.match(await page.locator('#rows tbody tr').first().innerText(), /0724 500039/)
}, /ERR_ABORTED/)

reader('rejects can be filtered on a narrow screen', async () => {
  const page = await login('/console/rejects')
  await page.setViewportSize({ width: 640, height: 512 }) // 1280 pixels at 200 %
  await page.getByRole('button', { name: 'Filters' }).click()
  await accessible(page, 'filters')
  await page.locator('.facet', { hasText: 'ZRH' }).click()
  await page.waitForURL('**airport=ZRH**')
}, /ERR_ABORTED/)

reader('a reject is mended, and its bag appears', async () => {
  const faulty = `BSM\r\n.V/1LZRH\r\n.F/LX501/${day}26/JFK\r\n.N/0724700001001\r\n.P/1MÜLLER/ANNA\r\n.L/XY9999\r\nENDBSM\r\n`
  assert.equal(await send(faulty), 400)
  assert.equal(await send(faulty.replace('BSM', 'BUM').replace('ENDBSM', 'ENDBUM')), 400)
  const page = await login('/console/rejects')
  await screen(page, 'rejects')
  await openReject(page, `${day}26`)
  await screen(page, 'a reject')
  // The carets stand under the fault, to the pixel.
  const [caret, fault] = await page.evaluate(() => {
    const place = (node, from) => { const r = document.createRange(); r.setStart(node, from); r.setEnd(node, from + 1); return r.getBoundingClientRect().left }
    const line = document.querySelector('#lines .bad'), marks = line.querySelector('i').firstChild, text = line.querySelector('span').firstChild
    return [place(marks, marks.data.indexOf('^')), place(text, marks.data.indexOf('^'))]
  })
  assert.ok(Math.abs(caret - fault) < 1, `${caret} ${fault}`)
  await page.getByRole('button', { name: `Use ${day}` }).click()
  await page.getByText(/Would be accepted\.\s+0724\d{6} Expected/).waitFor()
  await page.getByRole('button', { name: 'Undo edits' }).click()
  await page.getByText('1 fault left').waitFor()
  // A text with faults is not sent, and e leads to the first of them.
  await page.getByRole('button', { name: 'Resubmit mended' }).click()
  await page.locator('#say').getByText('1 fault left').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('e')
  assert.equal(await page.evaluate(() => String(getSelection())), `${day}26`)
  // A session that ends on the way does not take the edits along.
  const mended = faulty.replace(`${day}26`, day).replaceAll('\r', ''), cookies = await context.cookies()
  await context.clearCookies()
  await page.locator('#text').fill(mended)
  await page.getByText('Your session has ended').waitFor()
  await accessible(page, 'ended')
  await page.getByRole('button', { name: 'Resubmit mended' }).click()
  await page.locator('#say').getByText('Your session has ended').waitFor()
  assert.equal(await page.locator('#text').inputValue(), mended)
  await context.addCookies(cookies)
  await page.locator('#text').press('Control+End')
  await page.locator('#text').pressSequentially('\n')
  await page.getByText('Would be accepted').waitFor()
  await accessible(page, 'mended')
  await page.getByRole('button', { name: 'Resubmit mended' }).click()
  await page.getByText('The reject is resubmitted').waitFor()
  await accessible(page, 'accepted')
  await page.getByRole('link', { name: 'Bag 0724 700001' }).press('Enter')
  await page.getByText('not loaded on LX501').waitFor()
  await page.goto(service + '/console/rejects')
  await page.locator('.rows .row').first().focus()
  await page.keyboard.press('x')
  await page.getByRole('button', { name: 'Dismiss…' }).click()
  await page.getByText('1 of 1 would be dismissed').waitFor()
  await screen(page, 'a dry run')
  await page.getByLabel('Reason').fill('a test')
  await page.getByRole('button', { name: 'Dismiss 1' }).click()
  await page.getByText('1 of 1 dismissed').waitFor()
  await screen(page, 'a job')
  await page.getByText('Back to the rejects').click()
  await page.waitForURL(service + '/console/rejects?state=open')
  await page.getByLabel('All that match').check()
  await page.getByRole('button', { name: 'Resubmit…' }).click()
  await page.getByText('0 of 102 would be accepted').waitFor()
}, /401|ERR_ABORTED/)

reader('words of messages are broken if they are too long, so that no page scrolls sideways', async () => {
  const long = (n) => 'X'.repeat(n)
  const bag = (plate, remark) => `BSM\r\n.V/1LZRH\r\n.F/LX503/${day}/JFK\r\n.N/${plate}001\r\n.P/1${long(130)}/ANNA\r\n.L/XL9999\r\n.R/${remark}\r\nENDBSM\r\n`
  for (const plate of ['0724700031', '0724700032']) {
    assert.equal(await send(bag(plate, long(5000))), 200)
    assert.equal(await send(`BPM\r\n.V/1LZRH\r\n.J/S/////${long(40)}\r\n.F/LX503/${day}/JFK\r\n.N/${plate}001\r\nENDBPM\r\n`), 200)
  }
  assert.equal(await send(bag('0724700033', '').replace(day, long(3000))), 400)
  const page = await login('/console/bags/0724700031')
  const fitsAll = async (where) => { for (const width of [360, 683, 1366]) await fits(page, where, width) }
  for (const message of await page.locator('summary:has(.x)').all()) await message.click()
  await fitsAll('a bag')
  await page.goto(service + flight.replace('500', '503'))
  await fitsAll('a flight')
  await page.setViewportSize({ width: 718, height: 1047 }) // A4 with margins of 1 cm
  await page.emulateMedia({ media: 'print' })
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'a flight is wider than paper')
  await page.emulateMedia({ media: 'screen' })
  for (const [q, found] of [['XL9999', '2 bags'], [`${long(60)} zrh`, 'Nothing found']]) {
    await page.locator('#q').fill(q)
    await page.locator('#q').press('Enter')
    await page.getByText(found).waitFor()
    await fitsAll(`a search for ${q}`)
  }
  await page.goto(service + '/console/rejects')
  await openReject(page, 'XXXX')
  await fitsAll('a reject')
  await page.getByLabel('Reason').fill('https://' + long(400))
  await page.getByRole('button', { name: 'Dismiss', exact: true }).click()
  await page.goto(service + '/console/rejects?state=dismissed')
  await openReject(page, 'XXXX')
  await page.getByText('https://').waitFor()
  await fitsAll('a dismissed reject')
}, /ERR_ABORTED/)

reader('edits of a reject are not left without a question', async () => {
  assert.equal(await send(`BSM\r\n.V/1LZRH\r\n.F/LX501/${day}Y/JFK\r\n.N/0724700011001\r\n.P/1MUELLER/ANNA\r\n.L/XY9998\r\nENDBSM\r\n`), 400)
  const page = await login('/console/rejects'), asked = []
  await openReject(page, `${day}Y`)
  page.on('dialog', (dialog) => { asked.push(dialog.type()); return asked.length < 3 ? dialog.dismiss() : dialog.accept() })
  const text = page.locator('#text')
  await text.press('Control+End')
  await text.pressSequentially('X')
  const feeds = page.getByRole('link', { name: 'Feeds' })
  for (const leave of [feeds, page.getByRole('button', { name: 'Resubmit…' })]) { // the button is for other rejects
    await leave.click()
    assert.match(await text.inputValue(), /X$/)
  }
  await page.getByRole('button', { name: 'Undo edits' }).click()
  await feeds.click()
  await page.waitForURL('**/console/feeds')
  assert.deepEqual(asked, ['beforeunload', 'beforeunload'])
  await page.goBack()
  await text.press('Control+End')
  await text.pressSequentially('X')
  await page.getByLabel('Reason').fill('a test')
  await page.getByRole('button', { name: 'Dismiss', exact: true }).click()
  await page.getByText('Dismissed, and out of the list').waitFor()
  assert.deepEqual(asked, ['beforeunload', 'beforeunload'])
}, /ERR_ABORTED/)

reader('a change is seen within a second, and rows do not move', async () => {
  const [flights, bags, one] = [await login(board), await context.newPage(), await context.newPage()]
  await bags.goto(service + flight)
  await one.goto(service + '/console/bags/0724500020')
  for (const page of [flights, bags, one]) await live(page)
  const order = () => bags.locator('#rows tbody tr').evaluateAll((all) => all.map((tr) => tr.id).join())
  const before = await order()
  await bags.locator('#b-0724500020 a').focus()
  let fastest = Infinity
  for (const plate of ['0724500020', '0724500021', '0724500022']) {
    const began = Date.now()
    await load(plate, 'AKE12345LX')
    await bags.locator(`#b-${plate}[data-s=air]`).waitFor()
    fastest = Math.min(fastest, Date.now() - began)
  }
  console.log(`a change on the page after ${fastest} ms`)
  assert.ok(fastest < 1000, `${fastest} ms`)
  await flights.locator(`#f-LX-500-${date} [aria-label^="3 on aircraft"]`).waitFor({ state: 'attached' })
  await one.getByText('On aircraft, LX500').waitFor()
  assert.equal(await order(), before)
  assert.equal(await bags.evaluate(() => document.activeElement.closest('tr').id), 'b-0724500020')
  assert.equal(await bags.locator('#n-air').innerText(), '3')
  await bags.getByRole('button', { name: 'Sort again, 3 changed' }).click()
  assert.notEqual(await order(), before)
  // The first change alone is not announced, the others are 10 s later.
  assert.equal(await bags.locator('#say').innerText(), '')
  await bags.locator('#say').getByText('2 bags changed').waitFor({ timeout: 15_000 })
}, /ERR_ABORTED/)

// The board has the IATA code; messages may have the other code of the airline.
reader('each change of a flight is on the board, under either code of its airline', async () => {
  const loaded = (n) => send(`BPM\r\n.V/1LGVA\r\n.J/R\r\n.F/SWR910/${day}/JFK\r\n.U//31L\r\n.N/072491000${n}001\r\nENDBPM\r\n`)
  assert.equal(await loaded(1), 200)
  const page = await login(board.replace('ZRH', 'GVA'))
  await live(page)
  for (const n of [2, 3, 4]) {
    assert.equal(await loaded(n), 200)
    await page.locator(`#f-LX-910-${date} [aria-label^="${n} on aircraft"]`).waitFor({ state: 'attached', timeout: 10_000 })
  }
})

reader('a change moves no row, at any width', async () => {
  const page = await login(flight), top = () => page.locator('#b-0724500038').evaluate((e) => e.getBoundingClientRect().top)
  for (const width of [390, 1000, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    await page.reload()
    await live(page)
    const before = await top()
    await load('0724500039', `AKE${width}LX`)
    await page.locator('#moved:visible').waitFor()
    assert.equal(await top(), before, `${width} pixels`)
  }
}, /ERR_ABORTED/)

reader('a change moves no row of a list that is filtered', async () => {
  const page = await login(flight.replace('500', '800'))
  await live(page)
  await load('0724800034', 'AKE12345LX', 'LX800')
  await page.locator('#b-0724800034[data-s=air]').waitFor()
  const shown = () => page.locator('#rows tbody tr:visible').evaluateAll((all) => all.map((tr) => tr.id))
  await page.locator('[data-show="[data-s=not]"]').click()
  const before = await shown()
  assert.ok(before.includes('b-0724800035') && !before.includes('b-0724800034'))
  await load('0724800035', 'AKE12345LX', 'LX800')
  await page.locator('#b-0724800035[data-s=air]:visible').waitFor()
  assert.equal(await send(`BPM\r\n.V/1LZRH\r\n.J/R\r\n.F/LX800/${day}/JFK\r\n.B/ONA/0724800034001\r\nENDBPM\r\n`), 200)
  await page.locator('#b-0724800034[data-s=not]:visible').waitFor()
  assert.deepEqual(await shown(), [...before, 'b-0724800034'])
  await page.getByRole('button', { name: 'Sort again' }).click()
  assert.ok(!(await shown()).includes('b-0724800035'))
}, /ERR_ABORTED/)

reader('a flight that appears on a board comes before those that are later', async () => {
  const page = await login(board), flights = () => page.locator('#rows tbody tr').evaluateAll((all) => all.map((tr) => tr.id))
  await live(page)
  const before = await flights()
  await page.locator('#rows tbody tr').first().evaluate((tr) => tr.remove()) // as if it were new
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange'))) // asks anew
  await page.locator('#' + before[0]).waitFor()
  assert.deepEqual(await flights(), before)
}, /ERR_ABORTED/)

reader('a board that could not follow changes follows them later', async () => {
  const page = await login(board), follows = page.waitForRequest('**/v1/changes?**')
  await follows
  await page.route('**/console/flights?**', async (route) => { // as if there had been no changes yet
    const answer = await route.fetch()
    await route.fulfill({ response: answer, body: (await answer.text()).replace(/data-cursor="[^"]+"/, 'data-cursor=""') })
  })
  const begun = page.waitForRequest('**/v1/changes?**', { timeout: 30_000 })
  await page.reload()
  assert.equal(await page.evaluate(() => document.body.dataset.cursor), '')
  await begun
}, /ERR_ABORTED/)

reader('the clock of an open page follows its zone', async () => {
  const page = await context.newPage()
  await page.clock.install()
  await login(board, key, page)
  const hours = () => page.locator('.clock time').allInnerTexts().then(([local, utc]) => (parseInt(local) - parseInt(utc) + 24) % 24)
  const before = await hours()
  await page.clock.fastForward(182 * 24 * 3600 * 1000) // half a year
  await page.waitForFunction(() => document.querySelector('.clock time'))
  assert.equal(before + await hours(), 1 + 2) // winter and summer of Zurich
}, /ERR_ABORTED/)

reader('a page that hears nothing says so, and catches up', async () => {
  const page = await context.newPage()
  await page.clock.install()
  await login(flight, key, page)
  await live(page)
  await context.setOffline(true)
  await page.clock.fastForward(15_000)
  await page.locator('#stale').waitFor()
  await page.locator('#say').getByText('Not live since').waitFor() // it is announced
  const again = page.getByRole('button', { name: 'Try now' })
  for (let i = 0; i < 2; i++) { // also while it waits to try again
    const tried = page.waitForRequest(/rows=/, { timeout: 1500 }), failed = page.waitForEvent('requestfailed', (r) => /rows=/.test(r.url()))
    await again.click()
    await tried
    await failed
  }
  assert.equal(await page.locator('#rows tbody tr').count(), 40)
  assert.match(await page.locator('#stale').innerText(), /This page is \d+ s old/)
  await accessible(page, 'not live')
  await page.route('**/v1/changes?**', (route) => route.fulfill({ status: 502 })) // after which a stream does not try again by itself
  await page.waitForResponse('**/v1/changes?**')
  const follows = page.waitForRequest('**/v1/changes?**', { timeout: 1500 })
  await again.click()
  await follows
  await page.unroute('**/v1/changes?**')
  await load('0724500030', 'AKE12345LX')
  await context.setOffline(false)
  for (let i = 0; i < 60 && !await page.locator('#b-0724500030[data-s=air]').count(); i++) {
    await page.clock.runFor(1000)
    await new Promise((done) => setTimeout(done, 100))
  }
  await page.locator('#b-0724500030[data-s=air]').waitFor()
  await page.locator('#stale').waitFor({ state: 'hidden' })
}, /INTERNET_DISCONNECTED|ERR_ABORTED|ERR_NETWORK|ERR_FAILED|502/)

reader('a page that is refused waits as told', async () => {
  const page = await login(flight)
  await live(page)
  let asked = 0
  await page.route('**/flights/**rows=**', (route) => { asked++; return route.fulfill({ status: 429, headers: { 'Retry-After': '60' } }) })
  await load('0724500036', 'AKE12345LX')
  await new Promise((done) => setTimeout(done, 6000))
  assert.equal(asked, 1)
  await page.locator('#live[data-live=off]').waitFor({ state: 'attached', timeout: 10_000 }) // although its stream goes on
}, /429|ERR_ABORTED/)

reader('a page whose request is never answered says so, and asks again', async () => {
  const page = await login(flight)
  await live(page)
  await page.evaluate(() => { // the page waits 15 seconds for an answer, not 30
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    AbortSignal.timeout = (ms) => timeout(ms / 2)
  })
  await page.route('**/flights/**rows=**', () => {}, { times: 1 })
  await load('0724500033', 'AKE12345LX')
  await page.locator('#stale').getByText('Not live since').waitFor({ timeout: 14_000 })
  await page.locator('#b-0724500033[data-s=air]').waitFor({ timeout: 20_000 })
  await page.locator('#stale').waitFor({ state: 'hidden' })
}, /ERR_ABORTED/)

reader('a page whose stream is held back asks every 10 s instead', async () => {
  const page = await login()
  await page.route('**/v1/changes?**', () => {}) // a proxy may hold it back
  await page.goto(service + flight)
  await load('0724500034', 'AKE12345LX')
  await page.locator('#live .t').getByText('Every 10 s').waitFor({ state: 'attached', timeout: 15_000 })
  await page.locator('#b-0724500034[data-s=air]').waitFor({ timeout: 5000 })
  await load('0724500032', 'AKE12345LX')
  await page.locator('#b-0724500032[data-s=air]').waitFor({ timeout: 15_000 })
  assert.equal(await page.evaluate(() => document.querySelector('#live').dataset.live), 'on')
}, /ERR_ABORTED/)

reader('changes of a board are announced as flights, each once', async () => {
  const page = await login(board), said = page.locator('#say').filter({ hasText: 'changed' })
  await live(page)
  const began = Date.now()
  for (let i = 0; !await said.count(); i++) { // the first change alone is not announced
    assert.ok(Date.now() - began < 30_000, 'nothing is announced')
    await load('0724500031', `AKE${10000 + i}LX`)
    await load('0724800031', `AKE${10000 + i}LX`, 'LX800')
  }
  assert.equal(await said.innerText(), '2 flights changed')
}, /ERR_ABORTED/)

reader('a flight that leaves the list of those at risk does not take the focus from the next', async () => {
  const page = await login(board)
  await live(page)
  await page.evaluate(() => {
    const first = document.querySelector('#urgent li'), other = first.cloneNode(true)
    other.id = 'u-other' // as if it were at risk no more
    first.before(other)
    first.querySelector('a').focus()
    document.dispatchEvent(new Event('visibilitychange')) // asks anew
  })
  await page.locator('#u-other').waitFor({ state: 'detached' })
  assert.match(await page.evaluate(() => document.activeElement.parentNode.id), /^u-LX-/)
}, /ERR_ABORTED/)

reader('many rows that change at once are laid out once', async () => {
  const page = await login(flight.replace('500', '800')), measures = await context.newCDPSession(page)
  await live(page)
  await measures.send('Performance.enable')
  const layouts = async () => (await measures.send('Performance.getMetrics')).metrics.find((m) => m.name === 'LayoutCount').value
  await page.route('**/flights/**rows=**', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replaceAll('MUELLER</b>', 'KELLER</b>') })
  })
  const before = await layouts()
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange'))) // asks anew
  await page.waitForFunction(() => document.querySelectorAll('#rows .flash').length > 700)
  const after = await layouts()
  assert.ok(after - before < 100, `${after - before} layouts`)
}, /ERR_ABORTED/)

reader('a minute that passes is no change of the next flight', async () => {
  const page = await login(board), now = page.locator('.next .nowtag')
  await live(page)
  await now.evaluate((e) => {
    e.lastChild.textContent = 'before' // as if it were older
    document.dispatchEvent(new Event('visibilitychange')) // asks anew
  })
  await now.getByText(/\d\d:\d\d/).waitFor()
  assert.equal(await page.locator('.next.flash').count(), 0)
}, /ERR_ABORTED/)

reader('the first flight of an empty board does not take away what is being typed', async () => {
  const page = await login(board.replace('ZRH', 'LUX'))
  await live(page)
  await page.locator('#q').pressSequentially('muell')
  assert.equal(await send(`BSM\r\n.V/1LLUX\r\n.F/LG700/${day}/JFK\r\n.N/0724700061001\r\nENDBSM\r\n`), 200)
  await page.waitForResponse(async (r) => /rows=/.test(r.url()) && (await r.text()).includes('LG700'))
  await page.locator('#q').pressSequentially('er')
  assert.equal(await page.locator('#q').inputValue(), 'mueller')
  await page.locator('#q').fill('')
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange'))) // asks anew
  await page.locator('#rows').waitFor()
}, /ERR_ABORTED/)

reader('a second click while the answer is under way decides nothing', async () => {
  assert.equal(await send(`BSM\r\n.V/1LZRH\r\n.F/LX501/${day}Z/JFK\r\n.N/0724700012001\r\n.L/XY9997\r\nENDBSM\r\n`), 400)
  const page = await login('/console/rejects')
  await openReject(page, `${day}Z`)
  await page.getByLabel('Reason').fill('a test')
  await page.route('**/dismiss', async (route) => { // the answer is slow
    const response = await route.fetch({ maxRedirects: 0 })
    await new Promise((done) => setTimeout(done, 2000))
    await route.fulfill({ response }).catch(() => {})
  })
  const { x, y } = await page.getByRole('button', { name: 'Dismiss', exact: true }).boundingBox()
  await Promise.all([page.waitForRequest('**/dismiss'), page.mouse.click(x + 5, y + 5)])
  await new Promise((done) => setTimeout(done, 1000))
  await page.mouse.click(x + 5, y + 5)
  await page.getByText('Dismissed, and out of the list').waitFor()
}, /ERR_ABORTED/)

reader('the text of a reject stands on its lines, also if they are long, or are not checked', async () => {
  assert.equal(await send(`BSM\r\n.V/1LZRH\r\n.F/LX501/${'8'.repeat(200)}/JFK\r\n.N/0724700014001\r\n.L/XY9995\r\nENDBSM\r\n`), 400)
  const page = await login('/console/rejects'), text = page.locator('#text')
  await openReject(page, '888888')
  const inside = () => text.evaluate((e) => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight])
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    assert.deepEqual(await inside(), [0, 0], `${width} pixels`)
  }
  await page.route('**/rejects/check**', (route) => route.abort())
  await text.press('Control+Home')
  await text.pressSequentially('\n\n\n\n\n')
  assert.deepEqual(await inside(), [0, 0])
  await page.getByRole('button', { name: 'Undo edits' }).click()
}, /ERR_ABORTED|ERR_FAILED/)

reader('a suggestion does not alter a text that was edited since it was made', async () => {
  assert.equal(await send(`BSM\r\n.V/1LZRH\r\n.F/LX501/${day}27/JFK\r\n.N/0724700013001\r\n.L/XY9996\r\nENDBSM\r\n`), 400)
  const page = await login('/console/rejects'), text = page.locator('#text')
  await openReject(page, `${day}27`)
  const before = await text.inputValue(), use = page.getByRole('button', { name: `Use ${day}` })
  await page.route('**/rejects/check**', async (route) => {
    await new Promise((done) => setTimeout(done, 2000)) // a slow network
    await route.continue()
  })
  await text.press('Control+Home')
  await text.pressSequentially('\n')
  await use.click()
  assert.equal(await text.inputValue(), '\n' + before)
  await page.locator('[data-line="4"]').waitFor({ state: 'attached' })
  await use.click()
  assert.equal(await text.inputValue(), '\n' + before.replace(`${day}27`, day))
  await page.getByRole('button', { name: 'Undo edits' }).click()
}, /ERR_ABORTED/)

reader('ages go on while a search is left and opened again', async () => {
  for (const n of [1, 2]) assert.equal(await send(`BSM\r\n.V/1LZRH\r\n.F/LX502/${day}/JFK\r\n.N/072470005${n}001\r\n.P/1AGER/ANNA\r\nENDBSM\r\n`), 200)
  const page = await login()
  await page.addInitScript(() => { // page.clock would hide from the page how it was opened
    const { now } = Date
    Date.now = () => now() + Number(sessionStorage.later ?? 0)
  })
  await page.locator('#q').fill('ager lx502')
  await page.locator('#q').press('Enter')
  await page.getByText('2 bags').waitFor()
  await page.locator('.hits a').first().click()
  await page.waitForURL('**/console/bags/**')
  await page.evaluate(() => { sessionStorage.later = 3600_000 })
  await page.goBack()
  await page.locator('.hits time').first().getByText(/^6\d min$/).waitFor()
}, /ERR_ABORTED/)

reader('a change between the page and its stream is not missed', async () => {
  const page = await login()
  let go
  const held = new Promise((done) => { go = done })
  await page.route('**/v1/changes?**', async (route) => { await held; await route.continue() })
  await page.goto(service + flight)
  await load('0724500035', 'AKE12345LX')
  assert.equal(await page.locator('#b-0724500035[data-s=not]').count(), 1)
  go()
  await page.locator('#b-0724500035[data-s=air]').waitFor({ timeout: 30_000 }) // by then nothing else has asked for it
}, /ERR_ABORTED/)
