/** SIGTERM with a delay: everything is served on, everybody is told to go elsewhere, and only then the port is closed. */
import { afterAll, expect, test } from 'bun:test'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion, startUpstream } from '@test/support/upstream'
import { freePort } from '@/boot/embedded/free-port'
import { addressOf, demoKeyOf, type GatewayProcess, spawnGateway } from './process'

const upstream = startUpstream(() => Response.json(chatCompletion('Hello')))
afterAll(() => upstream.stop())

async function startLeaving(signal: NodeJS.Signals, extra: Record<string, string>): Promise<Left> {
  const gateway = spawnGateway({
    ...{ REDIS_URL: await redisUrl(), DATABASE_URL: await freshDatabase(), PORT: '0' },
    ...{ PROVIDER1_API_KEY: 'k-provider-one', PROVIDER1_BASE_URL: `${upstream.url}/v1`, DEMO_ACCOUNT: 'on' },
    ...extra,
  })
  const address = await addressOf(gateway)
  const key = demoKeyOf(gateway)
  gateway.kill(signal)
  return { gateway, address, key }
}

type Left = { gateway: GatewayProcess; address: string; key: string }

function ask({ address, key }: Left): Promise<Response> {
  return fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }),
  })
}

test('for DRAIN_DELAY_MS everything is served, not ready, and lets go of its connection', async () => {
  const left = await startLeaving('SIGTERM', { DRAIN_DELAY_MS: '4000' })
  await until(() => left.gateway.output().includes('"event":"leaving"'), 'the gateway to leave')
  const readiness = await fetch(`${left.address}/readyz`)
  expect([readiness.status, readiness.headers.get('connection')]).toEqual([503, 'close'])
  expect(await readiness.json()).toEqual({ status: 'draining' })
  const answer = await ask(left)
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  expect(await answer.text()).toContain('Hello')
  for (const path of ['/healthz', '/docs', '/dashboard', '/nowhere', '/']) {
    const response = await fetch(left.address + path, { redirect: 'manual' })
    expect([path, response.headers.get('connection')]).toEqual([path, 'close'])
    await response.arrayBuffer()
  }
  expect(left.gateway.output()).not.toContain('"event":"draining"')
  expect(await left.gateway.exited()).toBe(0)
  expect(left.gateway.output()).toContain('"event":"draining"')
})

test('several processes leave together', async () => {
  const port = String(await freePort())
  const left = await startLeaving('SIGTERM', { DRAIN_DELAY_MS: '3000', PROCESSES: '2', PORT: port })
  await until(() => left.gateway.output().split('"event":"leaving"').length === 3, 'both processes to leave')
  for (let count = 0; count < 6; count++) expect((await ask(left)).status).toBe(200)
  expect(await left.gateway.exited()).toBe(0)
})

test('a second signal ends it at once', async () => {
  const { gateway } = await startLeaving('SIGTERM', { DRAIN_DELAY_MS: '600000' })
  await until(() => gateway.output().includes('"event":"leaving"'), 'the gateway to leave')
  // One that comes within a second is an echo of the first.
  const repeat = setInterval(() => gateway.kill('SIGTERM'), 300)
  expect(await gateway.exited()).toBe(1)
  clearInterval(repeat)
})

test('whoever presses Ctrl-C waits for no proxy', async () => {
  const { gateway } = await startLeaving('SIGINT', { DRAIN_DELAY_MS: '600000' })
  expect(await gateway.exited()).toBe(0)
  expect(gateway.output()).not.toContain('"event":"leaving"')
})
