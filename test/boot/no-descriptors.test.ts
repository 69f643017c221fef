/** Strangers may take every descriptor the moment a gateway listens: what it does later in its start must not end it. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { addressOf, demoKeyOf, spawnGateway } from './process'

setDefaultTimeout(60_000)

const PRELOAD = join(import.meta.dir, 'use-up-descriptors.ts')
const DESCRIPTORS = 400
const DIGITS = '1 2 3 4 5 6 7 8 9'

test('a gateway with no descriptor left outlives it, then counts and shows its pages', async () => {
  const gateway = spawnGateway(
    {
      REDIS_URL: await redisUrl(),
      DATABASE_URL: await freshDatabase(),
      PORT: '0',
      BUN_OPTIONS: `--preload=${PRELOAD}`,
    },
    DESCRIPTORS,
  )
  const address = await addressOf(gateway)
  gateway.kill('SIGUSR2')
  await until(() => gateway.output().includes('descriptors are back') || gateway.hasExited(), 'the descriptors', 30_000)
  expect(gateway.output()).not.toContain('ran out of file descriptors')
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
  gateway.kill('SIGTERM')
  await gateway.exited()
})
