// Follows changes with the EventSource of a browser, while the process that answers is killed.
// stream_test.go says what the service holds.
import assert from 'node:assert/strict'
import { key, live, proxy, service } from './browser.mjs'
import { login } from './looks.mjs'
import { context, reader } from './reader.mjs'

const { CONTROL_URL: control } = process.env
const plates = Array.from({ length: 30 }, (_, i) => '0724' + String(i).padStart(6, '0'))

// order has the test kill or start the process, or send a round of messages about every plate.
async function order(what) {
  const answer = await fetch(`${control}/${what}`, { method: 'POST' })
  assert.equal(answer.status, 200, what)
}

// follow opens a page with a stream, and keeps there what it is told. A stream that was refused, as
// nginx does while nobody answers it, is closed for good: then another one begins at its last cursor.
async function follow(origin) {
  const page = await context.newPage()
  await page.goto(origin + '/console/search')
  await page.evaluate(() => {
    const told = globalThis.told = { changes: [], resets: 0, errors: 0, streams: 0, cursor: '' }
    const open = () => {
      told.streams++
      const source = globalThis.source = new EventSource('/v1/changes' + (told.cursor && '?cursor=' + encodeURIComponent(told.cursor)))
      const on = (name, what) => source.addEventListener(name, (e) => { told.cursor = e.lastEventId; what?.(JSON.parse(e.data)) })
      on('heartbeat')
      on('reset', () => { told.resets++ })
      on('change', (change) => { told.changes.push(change) })
      source.onerror = () => {
        told.errors++
        if (source.readyState === EventSource.CLOSED) setTimeout(open, 1000)
      }
    }
    open()
  })
  await page.waitForFunction(() => globalThis.told.cursor)
  return page
}

// untilTold waits until a page was told an event at a belt of every plate.
function untilTold(page, round) {
  return page.waitForFunction(([plates, belt]) => {
    const seen = new Set(globalThis.told.changes.filter((c) => JSON.stringify(c.bags).includes(`"${belt}"`)).map((c) => c.plate))
    return plates.every((plate) => seen.has(plate))
  }, [plates, 'BELT' + round])
}

// verify holds what a page was told against what the service answers.
async function verify(page) {
  const { told, answer } = await page.evaluate(async (plates) => {
    const query = plates.map((plate) => 'plate=' + plate).join('&')
    return { told: globalThis.told, answer: await (await fetch('/v1/bags?fields=events&' + query)).json() }
  }, plates)
  const latest = new Map()
  for (const change of told.changes) {
    const before = latest.get(change.plate)
    assert.ok(!before || change.epoch > before.epoch || change.epoch === before.epoch && change.sequence >= before.sequence, `${change.id} after ${before?.id}`)
    latest.set(change.plate, change)
  }
  assert.deepEqual([...latest.keys()].sort(), plates) // and no bag of BA
  assert.deepEqual(plates.flatMap((plate) => latest.get(plate).bags), answer.bags)
  assert.equal(told.resets, 0)
  return told
}

reader('EventSource misses nothing, directly and through nginx', async () => {
  await login('/console/search', key, null, proxy)

  await order('send/0')
  const board = await context.newPage()
  await board.clock.install()
  await board.goto(proxy + '/console/bags/' + plates[0])
  await live(board)
  const [direct, proxied] = await Promise.all([follow(service), follow(proxy)]) // the cookie is that of the host
  const both = [direct, proxied]
  const all = (what) => Promise.all(both.map(what))
  await order('send/1')
  await all((page) => untilTold(page, 1))
  await order('send/2')
  const killed = performance.now()
  await order('kill')
  await order('send/3')
  await order('start')
  const away = performance.now() - killed
  await order('send/4')
  await all((page) => untilTold(page, 4))
  for (const told of await all(verify)) {
    // An EventSource tries again after 3 s. On a slow machine nginx refuses it then.
    if (away < 2500) assert.equal(told.streams, 1)
    assert.ok(told.errors > 0)
  }

  // While nobody listens, nginx answers 502.
  await order('kill')
  await order('send/5')
  await all((page) => page.waitForFunction(() => globalThis.told.errors > 2))
  await board.clock.fastForward(15_000)
  await board.locator('#stale').waitFor()
  await order('start')
  await all((page) => untilTold(page, 5))
  const [one, other] = await all(verify)
  assert.equal(one.streams, 1)
  assert.ok(other.streams > 1)

  // A page of the console comes back to its stream.
  const followed = board.locator('#live .t', { hasText: /^Live$/ })
  for (let i = 0; i < 60 && !await followed.count(); i++) {
    await board.clock.runFor(1000)
    await new Promise((done) => setTimeout(done, 100))
  }
  await followed.waitFor({ state: 'attached' })
  await order('send/6')
  await board.getByText('BELT6').first().waitFor({ state: 'attached' })
}, /ERR_|502/)
