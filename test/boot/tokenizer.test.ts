/** The tokenizer takes half a second to load: each server process loads it in its own thread. */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { freePort } from '@/boot/embedded/free-port'
import { addressOf, demoKeyOf, spawnGateway } from './process'

const PRELOAD = join(import.meta.dir, 'note-tokenizer.ts')

test.each([1, 2])('requests do not wait while a thread loads the tokenizer: %d process(es)', async (count) => {
  const gateway = spawnGateway({
    REDIS_URL: await redisUrl(),
    DATABASE_URL: await freshDatabase(),
    PORT: count === 1 ? '0' : String(await freePort()),
    PROCESSES: String(count),
    BUN_OPTIONS: `--preload=${PRELOAD}`,
  })
  const address = await addressOf(gateway)
  const servers = () => (count === 1 ? [gateway.pid] : childrenOf(gateway.pid))
  const threads = () => servers().filter((pid) => threadsOf(pid).includes('tokenizer'))
  await until(() => threads().length === count, 'the threads')
  const response = await fetch(`${address}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { 'x-api-key': demoKeyOf(gateway), 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'auto-smart', messages: [{ role: 'user', content: 'Count me in.' }] }),
  })
  expect(await response.json()).toMatchObject({ input_tokens: expect.any(Number) })
  expect(gateway.output()).not.toContain('the thread that serves loads the tokenizer')
  gateway.kill('SIGTERM')
  await gateway.exited()
})

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

function threadsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`).map((id) => readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').trim())
}
