/** Stalls of the event loop are counted and logged by the route that caused them, without any text of a client. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { standStill } from '@test/support/delays'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { serve } from '@/boot/serve'
import { loadConfig } from '@/config/config'
import { assert } from '@/lib/assert'

const STALL_MS = 400

let gateway: TestGateway
let url: string
let stop: () => Promise<void>

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
  const loaded = loadConfig({ HOST: '127.0.0.1', PORT: '0' })
  assert(loaded.kind === 'loaded', 'the configuration is sound')
  const server = serve(loaded.config, {
    fetch(request) {
      if (request.url.includes('slow')) standStill(STALL_MS)
      return new Response('done')
    },
  })
  url = `http://127.0.0.1:${server.port}`
  stop = () => server.stop(true)
})
afterAll(async () => {
  await stop()
  await gateway.stop()
})

/** A busy machine may hold up the loop by itself, and that is told as well. */
const linesOf = (route: string) =>
  gateway.logLines.filter((line) => line.includes('event_loop_stalled') && JSON.parse(line).route === route)

test.each([
  ['/v1/messages?slow&key=svc-canary', '/v1/messages'],
  ['/nobody-s-slow-canary', 'unknown'],
])('a stall of the event loop at %s is counted and logged as %s', async (path, route) => {
  // One that comes before and is quick is not to blame.
  await fetch(`${url}/healthz`)
  await fetch(url + path)
  const line = await until(() => linesOf(route)[0], 'the log to say so')
  expect(JSON.parse(line)).toMatchObject({ level: 'warn', route, milliseconds: expect.any(Number) })
  expect(line).not.toContain('canary')
  const exposition = await gateway.gateway.deps.metrics.exposition()
  expect(exposition).toMatch(new RegExp(`^svc_event_loop_stalls_total\\{route="${route}"\\} [1-9]`, 'm'))
})
