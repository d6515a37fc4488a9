// Reads records of the topic of changes with the SDK of CloudEvents. The file named by the first argument holds them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const { Kafka } = createRequire(process.env.NODE_MODULES + '/')('cloudevents')

const records = JSON.parse(readFileSync(process.argv[2], 'utf8'))
assert.ok(records.length > 0)
for (const { headers, key, value, event: want } of records) {
  assert.ok(Kafka.isEvent({ headers, key, value }))
  const event = Kafka.toEvent({ headers, key, value })
  for (const name of ['id', 'source', 'type', 'subject', 'data']) assert.deepEqual(event[name], want[name], name)
  assert.equal(Date.parse(event.time), Date.parse(want.time))
  assert.equal(event.datacontenttype, 'application/json')
  assert.equal(event.partitionkey, key)
}
