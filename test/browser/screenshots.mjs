// Makes the pictures of the console that the README shows. screenshots_test.go starts the service.
import { join } from 'node:path'
import { key, launch, live, send, service } from './browser.mjs'

const { IMAGES: images, DATE: date } = process.env
const board = `${service}/console/flights?airport=ZRH&direction=D&date=${date}`
const browser = await launch()
const context = await browser.newContext({ viewport: { width: 1104, height: 540 }, reducedMotion: 'reduce' })
context.setDefaultTimeout(60_000)
const page = await context.newPage()
const faulty = 'BSM\r\n.V/1LZRH\r\n.F/LX14/22NOV26/JFK/Y\r\n.N/072412345X001\r\n.S/Y/12A/C\r\n.P/1MÜLLER/ANNA\r\n.L/ABC123\r\nENDBSM\r\n'

async function picture(name, colorScheme) {
  await page.emulateMedia({ colorScheme })
  if (await page.locator('#live').count()) await live(page)
  await page.locator('#say:empty').waitFor({ state: 'attached' })
  await page.evaluate(() => document.activeElement.blur())
  await page.screenshot({ path: join(images, name + '.png') })
}

// behind returns the addresses of the links that a selector finds.
const behind = (links) => page.locator(links).evaluateAll((all) => all.map((a) => a.href))

// open opens the first of some pages that has what a selector finds.
async function open(pages, selector) {
  for (const target of pages) {
    await page.goto(target)
    if (await page.locator(selector).count()) return
  }
  throw new Error(`no page has ${selector}`)
}

try {
  await page.goto(board)
  await page.locator('#key').fill(key)
  await page.keyboard.press('Enter')
  await page.waitForURL(board)
  // The traffic of the past is played at once. Then nothing comes any more, since the clock stands still.
  let rows = ''
  for (let before = '?'; before !== rows || !rows; await new Promise((done) => setTimeout(done, 1000))) {
    before = rows
    await page.goto(board)
    rows = await page.locator('main').innerText()
  }
  await open(await behind('.urgent a'), '#rows tr[data-s=con]')
  await picture('flight', 'light')
  await open(await behind('#rows tr[data-s=con] a'), '.split:has(.events .e:nth-of-type(5)) .legs li:nth-child(3)')
  await picture('bag', 'dark')
  await send(faulty)
  for (let i = 0; i < 50 && !await page.locator('.rows a', { hasText: '22NOV26' }).count(); i++) await page.goto(service + '/console/rejects')
  await open(await behind('.rows a'), '[data-fix]')
  await picture('rejects', 'light')
} finally {
  await browser.close()
}
