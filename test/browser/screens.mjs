// Looks at every screen with no bag, one and 800. browser_test.go says which key sees which.
import assert from 'node:assert/strict'
import { key, launch, live, service } from './browser.mjs'
import { login, screen } from './looks.mjs'
import { faults, reader } from './reader.mjs'

const { DATE: date } = process.env
const most = 150 << 10 // bytes of a page with all that it loads

// Each key covers one airport. flight departs there, with bag.
const keys = [
  { bags: 0, key: 'a key that sees no bag', airport: 'BRN', flight: 'LX/700', bag: '0724700000' },
  { bags: 1, key: 'a key that sees one bag', airport: 'GVA', flight: 'LX/600', bag: '0724600000' },
  { bags: 800, key, airport: 'ZRH', flight: 'LX/800', bag: '0724800007' },
]
const board = (k) => `/console/flights?airport=${k.airport}&direction=D&date=${date}`
const flight = (k) => `/console/flights/${k.airport}/D/${k.flight}/${date}`
const [, , all] = keys

// weigh prints how many bytes the page and its files have without a cache, beside its times.
async function weigh(page, where) {
  const [size, server, shown, elements] = await page.evaluate(async () => {
    const [n] = performance.getEntriesByType('navigation'), files = [...document.querySelectorAll('head link, head script')].map((e) => e.href || e.src)
    const sizes = await Promise.all(files.map(async (file) => {
      await (await fetch(file, { cache: 'no-store' })).arrayBuffer()
      return performance.getEntriesByName(file).at(-1).transferSize
    }))
    return [sizes.reduce((sum, size) => sum + size, n.transferSize), n.responseStart - n.requestStart, n.loadEventEnd, document.querySelectorAll('*').length]
  })
  console.log(`${where}: ${(size / 1024).toFixed(1)} KB (150), first byte after ${server.toFixed(0)} ms (50), shown after ${shown.toFixed(0)} ms (300), ${elements} elements`)
  assert.ok(size < most && size > 10_000, `${where} loads ${size} bytes`)
}

for (const k of keys) {
  reader(`every screen is in order with ${k.bags} bags`, async () => {
    const page = await login('/console/search', k.key)
    const open = async (target) => {
      await page.goto(service + target, { waitUntil: 'load' })
      await weigh(page, `${target.split('?')[0]} with ${k.bags} bags`)
      await screen(page, `${target} with ${k.bags} bags`)
    }
    for (const target of ['/console/search', board(k), flight(k), `/console/bags/${k.bag}`, '/console/feeds', '/console/rejects']) await open(target)
    const [reject] = await page.locator('.rows a').evaluateAll((found) => found.map((a) => a.pathname))
    assert.equal(!reject, k.bags === 0)
    if (reject) await open(reject)
    await page.locator('#q').fill(`mueller ${k.flight.replace('/', '')}`)
    await page.locator('#q').press('Enter')
    if (k.bags === 1) await page.waitForURL(`**/console/bags/${k.bag}`) // one hit opens at once
    else {
      await page.getByText(k.bags ? /^\d{2,} bags$/ : 'Nothing found').waitFor()
      await screen(page, `a search with ${k.bags} bags`)
    }
    assert.equal(await page.goto(service + flight(k)).then(() => page.locator('#rows tbody tr').count()), k.bags)
  }, /ERR_ABORTED/)
}

reader('a filter of 800 bags is quick', async () => {
  const page = await login(flight(all))
  const took = await page.evaluate(() => {
    const field = document.querySelector('[data-filter]'), began = performance.now()
    field.value = '0724800799'
    field.dispatchEvent(new Event('input'))
    return performance.now() - began
  })
  console.log(`a filter of 800 bags: ${took.toFixed(0)} ms (100)`)
  assert.equal(await page.locator('#rows tbody tr:visible').count(), 1)
}, /ERR_ABORTED/)

reader('a screen reader finds all rows of a flight, also those out of view', async () => {
  const storageState = await (await login()).context().storageState()
  const browser = await launch('--force-renderer-accessibility') // as if a screen reader ran
  const page = await browser.newPage({ storageState })
  await page.goto(service + flight(all))
  const { nodes } = await (await page.context().newCDPSession(page)).send('Accessibility.getFullAXTree')
  await browser.close()
  for (const [role, n] of Object.entries({ table: 1, columnheader: 9, row: 801, rowheader: 800, cell: 6400 })) {
    assert.equal(nodes.filter((node) => !node.ignored && node.role.value === role).length, n, role)
  }
}, /ERR_ABORTED/)

reader('a font twice as large leaves every screen in order', async () => {
  const storageState = await (await login('/console/search')).context().storageState()
  const browser = await launch('--blink-settings=defaultFontSize=32') // a setting of the browser, not its zoom
  const page = await browser.newPage({ storageState })
  for (const target of [board(all), flight(all), `/console/bags/${all.bag}`, '/console/rejects', '/console/feeds']) {
    for (const width of [640, 1280, 1920]) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(service + target)
      const [over, field] = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, document.querySelector('#q').clientWidth])
      assert.ok(over <= 0 && field >= 100, `${target} is ${over} px wider than ${width} px, and its search field is ${field} px wide`)
    }
  }
  await browser.close()
}, /ERR_ABORTED/)

reader('what the policy refuses is reported to this test', async () => {
  const page = await login()
  await page.evaluate(() => document.body.setAttribute('style', 'color: red'))
  await page.waitForFunction(() => true)
  assert.ok(faults.some((f) => f.includes('policy: style-src')), faults.join())
}, /style|ERR_ABORTED/)

// grey returns how bright a colour is, as the contrast of WCAG counts it, plus .05.
function grey(colour) {
  const [r, g, b] = colour.match(/[\d.]+/g).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
}

reader('each status can be told without colours', async () => {
  const page = await login(board(all))
  for (const media of [{ colorScheme: 'light' }, { colorScheme: 'dark' }, { forcedColors: 'active' }]) {
    await page.emulateMedia(media)
    const fills = await page.locator('.legend li').evaluateAll((found) => found.map((li) => [li.innerText, getComputedStyle(li.querySelector('rect')).fill]))
    assert.equal(fills.length, 6)
    for (const [a, one] of fills) {
      for (const [b, other] of fills) {
        const same = one.startsWith('url') || other.startsWith('url') ? one === other : Math.max(grey(one), grey(other)) / Math.min(grey(one), grey(other)) < 1.5
        assert.ok(a === b || !same, `${a} and ${b} look the same: ${one} ${other} ${JSON.stringify(media)}`)
      }
    }
  }
  await page.goto(service + flight(all))
  const chips = await page.locator('.chip:has(svg)').evaluateAll((found) => found.map((c) => [c.querySelector('use').getAttribute('href'), c.firstChild.nextSibling.data.trim()]))
  assert.equal(new Set(chips.map((c) => c[0])).size, 6)
  assert.equal(new Set(chips.map((c) => c[1])).size, 6)
  const background = (selector) => page.locator(selector).first().evaluate((e) => getComputedStyle(e).backgroundColor)
  assert.notEqual(await background('.chip[aria-pressed=true]'), await background('.chip[aria-pressed=false]'))
  await live(page)
  assert.notEqual(await background('.dot'), await background('.top'))
}, /ERR_ABORTED/)

reader('the lists are printed whole, even if they are filtered, black on white', async () => {
  const page = await login(flight(all))
  for (const [target, columns] of [[flight(all), 9], [board(all), 12]]) {
    await page.emulateMedia({ media: 'screen' })
    await page.goto(service + target)
    await page.locator('[data-filter]').fill('nothing')
    await page.getByText(/^No (bag|flight) matches/).waitFor()
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
      for (const gone of ['.top', '.nav', '.chips', '.foot', '[data-print-now]']) assert.equal(await page.locator(gone + ':visible').count(), 0, gone)
      assert.equal(await page.locator('#rows thead th:visible').count(), columns)
      assert.equal(await page.locator('#rows tbody tr:visible').count(), await page.locator('#rows tbody tr').count())
      const [paper, ink, head] = await page.evaluate(() => [
        getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('#rows tbody tr:not(.gone) td')).color,
        getComputedStyle(document.querySelector('.prints'), '::after').content,
      ])
      assert.equal(paper, 'rgb(255, 255, 255)')
      assert.ok(grey(ink) < 0.1, ink)
      assert.match(head, /Printed .* ZRH, \d\d:\d\dZ, by everything/)
    }
  }
}, /ERR_ABORTED/)

reader('under reduced motion nothing moves, and the page looks the same', async () => {
  const page = await login(flight(all))
  const look = () => page.evaluate(() => [...document.querySelectorAll('.facts, .flow, .toast, dialog, .split')].map((e) => getComputedStyle(e).display + getComputedStyle(e).position).join())
  const before = await look()
  await page.emulateMedia({ reducedMotion: 'reduce' })
  assert.equal(await look(), before)
  assert.deepEqual(await page.evaluate(() => document.getAnimations().length), 0)
}, /ERR_ABORTED/)
