/** Clients may take every file descriptor once a gateway listens: later steps of its start must not fail. */
import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { memoryLogger } from '@test/ledger/harness'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { loadAssets } from '@/boot/dashboard-assets/load'
import { addressOf, demoKeyOf, type GatewayProcess, spawnGateway } from './process'
import { ARE_BACK } from './take-descriptors'

const DESCRIPTORS = 400
const DIGITS = '1 2 3 4 5 6 7 8 9'

// As everywhere but where sources have just changed: a bundler is one more thread.
beforeAll(() => loadAssets(memoryLogger()))

async function start(preload: string, environment: Record<string, string>): Promise<GatewayProcess> {
  const stores = { REDIS_URL: await redisUrl(), DATABASE_URL: await freshDatabase() }
  const options = { BUN_OPTIONS: `--preload=${join(import.meta.dir, preload)}`, PORT: '0' }
  return spawnGateway({ ...stores, ...options, ...environment }, DESCRIPTORS)
}

async function outlives(gateway: GatewayProcess): Promise<void> {
  const isOver = () => gateway.output().includes(ARE_BACK) || gateway.hasExited()
  await until(isOver, 'the descriptors to be back')
  expect([gateway.hasExited(), gateway.output()]).toEqual([false, expect.not.stringContaining('file descriptors')])
}

async function stop(gateway: GatewayProcess): Promise<void> {
  gateway.kill('SIGTERM')
  expect(await gateway.exited()).toBe(0)
}

test('a gateway that gets no threads at its start becomes ready once threads are available', async () => {
  const gateway = await start('take-descriptors-at-listening.ts', { PROVIDER1_API_KEY: 'k-provider-one' })
  await outlives(gateway)
  const address = await addressOf(gateway)
  await until(async () => (await fetch(`${address}/readyz`)).ok, 'it to be ready')
  await stop(gateway)
})

test('a gateway without threads for deferred work counts tokens and serves pages later', async () => {
  const gateway = await start('take-descriptors-at-signal.ts', {})
  const address = await addressOf(gateway)
  gateway.kill('SIGUSR2')
  await outlives(gateway)
  const count = async (content: string) => {
    const response = await fetch(`${address}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { 'x-api-key': demoKeyOf(gateway), 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'auto-smart', messages: [{ role: 'user', content }] }),
    })
    return ((await response.json()) as { input_tokens: number }).input_tokens
  }
  // By the vocabulary, not by a guess.
  expect((await count(DIGITS)) - (await count(''))).toBe(encode(DIGITS).length)
  const page = await fetch(`${address}/dashboard/`)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<html')])
  await stop(gateway)
})
