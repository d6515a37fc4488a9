// Verifies deliveries with the library of Standard Webhooks. The file named by the first argument holds them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const { Webhook } = createRequire(process.env.NODE_MODULES + '/')('standardwebhooks')

for (const { secrets, body, headers } of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  for (const secret of secrets) assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body))
  assert.throws(() => new Webhook(secrets[0]).verify(body + ' ', headers))
}
