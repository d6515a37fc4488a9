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
