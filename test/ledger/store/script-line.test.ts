/** The direct connection that sends scripts to one Redis server: calls sent together, their replies, and calls without a reply. */

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { connect } from '@test/ledger/harness'
import { expectAtLeast } from '@test/support/at-least'
import { startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { Redis } from 'ioredis'
import { createScriptLine } from '@/ledger/store/script-line'
import { assert } from '@/lib/assert'

const ECHO_TEXT = 'return { KEYS, ARGV, #ARGV, false }'
const ECHO = {
  name: 'echo',
  source: ECHO_TEXT,
  text: ECHO_TEXT,
  sha: createHash('sha1').update(ECHO_TEXT).digest('hex'),
}
const TELLING = { failed: (_: unknown, error: unknown) => Promise.reject(error) }

let server: TestServer
let redis: Redis
beforeAll(async () => {
  server = await startRedis()
  const client = await connect(server.url)
  assert(client instanceof Redis, 'one server')
  redis = client
  await redis.script('LOAD', ECHO.text)
})
afterEach(() => until(() => redis.status === 'ready', 'the store to be back'))
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

test('keys, arguments and replies of a script arrive unchanged, in any alphabet and length', async () => {
  const line = createScriptLine(redis, 1_000, TELLING)
  const args = ['', 'a b\r\nc', 'Größe 漢字 🙂', 42, -7, 'x'.repeat(100_000)]
  expect(await line.send(ECHO, ['one', 'two'], args)).toEqual([['one', 'two'], args.map(String), 6, null])
  expect(await line.send(ECHO, [], [])).toEqual([[], [], 0, null])
})

test('script calls of one event loop turn are sent together, and each gets its own reply, even between other commands', async () => {
  const line = createScriptLine(redis, 1_000, TELLING)
  const reads = async () => Number(/total_reads_processed:(\d+)/.exec(await redis.info('stats'))?.[1])
  const before = await reads()
  const answers = await Promise.all([
    ...Array.from({ length: 200 }, (_, index) => line.send(ECHO, [`n${index}`], [index])),
    redis.ping(),
  ])
  expect((await reads()) - before).toBeLessThan(10)
  expect(answers.slice(0, 200)).toEqual(
    Array.from({ length: 200 }, (_, index) => [[`n${index}`], [`${index}`], 1, null]),
  )
  expect(answers.at(-1)).toBe('PONG')
})

test('an error reply rejects its own call only', async () => {
  const line = createScriptLine(redis, 1_000, TELLING)
  const [unknown, known] = await Promise.allSettled([
    line.send({ ...ECHO, sha: '0'.repeat(40) }, [], []),
    line.send(ECHO, [], [1]),
  ])
  expect(unknown).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(/^NOSCRIPT/) } })
  expect(known).toMatchObject({ status: 'fulfilled' })
})

test('calls to a silent Redis time out, and a late reply goes to no other call', async () => {
  const line = createScriptLine(redis, 300, TELLING)
  process.kill(server.pid, 'SIGSTOP')
  try {
    const late = () => expect(line.send(ECHO, [], ['late'])).rejects.toThrow('no answer in time')
    await expectAtLeast(250, late)
  } finally {
    process.kill(server.pid, 'SIGCONT')
  }
  expect(await line.send(ECHO, [], ['next'])).toEqual([[], ['next'], 1, null])
})

test('a listener is called once its script call is written, before the reply', async () => {
  const line = createScriptLine(redis, 20_000, TELLING)
  const events: string[] = []
  process.kill(server.pid, 'SIGSTOP')
  const answer = line.send(ECHO, [], [1], { onSent: () => void events.push('sent') }).then(() => events.push('reply'))
  await until(() => events.length > 0, 'the call to be sent')
  expect(events).toEqual(['sent'])
  process.kill(server.pid, 'SIGCONT')
  await answer
  expect(events).toEqual(['sent', 'reply'])
})

test('a broken or missing connection rejects the open calls at once', async () => {
  const line = createScriptLine(redis, 20_000, TELLING)
  process.kill(server.pid, 'SIGSTOP')
  const pending = Promise.allSettled([line.send(ECHO, [], ['lost'])])
  await Bun.sleep(0)
  await server.kill()
  expect(await pending).toMatchObject([{ reason: { message: expect.stringContaining('max retries') } }])
  const sent = { onSent: () => expect.unreachable() }
  await expect(line.send(ECHO, [], ['nobody'], sent)).rejects.toThrow("isn't writeable")
  await server.restart()
  await until(() => redis.status === 'ready', 'the connection to be back')
  await redis.script('LOAD', ECHO.text)
  expect(await line.send(ECHO, [], ['back'])).toEqual([[], ['back'], 1, null])
})
