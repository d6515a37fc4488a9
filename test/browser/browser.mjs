// The browser, and the service that it uses.
import { createRequire } from 'node:module'

export const { SERVICE_URL: service, SERVICE_KEY: key, PROXY_URL: proxy } = process.env
const { CHROMIUM: executablePath, NODE_MODULES: modules } = process.env
export const require = createRequire(modules + '/')
const { chromium } = require('playwright-core')

// Without these, Chromium needs a sandbox of its own and asks hosts of its makers.
const args = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
]

// launch starts a browser, with further switches.
export const launch = (...more) => chromium.launch({ executablePath, args: [...args, ...more] })

// send posts a message, and returns the status of the answer.
export async function send(text) {
  const answer = await fetch(service + '/baggage/processbim/v1.0/', {
    method: 'POST', headers: { api_key: key, 'Content-Type': 'application/json' }, body: JSON.stringify({ bim_message: text }),
  })
  return answer.status
}

// live waits until a page of the console follows changes.
export const live = (page) => page.locator('#live[data-live=on]').waitFor({ state: 'attached' })
