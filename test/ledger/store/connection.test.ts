/** The Redis connection: every form of address, commands sent together, and no waiting for a missing Redis. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { channel } from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, memoryLogger } from '@test/ledger/harness'
import { spendThen, standStill } from '@test/support/delays'
import { startRedis, type TestServer } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import type { Command } from 'ioredis'
import { commandTimeoutOf, connectRedis, waitForRedis } from '@/ledger/store/connection'

let server: TestServer
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-socket-'))
  server = await startRedis({ config: { unixsocket: join(folder, 'redis.sock') } })
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

test.each([
  ['redis://', () => server.url],
  ['unix://', () => `unix://${join(folder, 'redis.sock')}?password=${new URL(server.url).password}`],
])('%s connects to Redis', async (_, url) => {
  const options = { logger: memoryLogger(), commandTimeoutMs: 700, name: 'probe' }
  const redis = connectRedis(url(), options)
  await waitForRedis(redis, PATIENCE_MS)
  expect(commandTimeoutOf(redis)).toBe(700)
  expect(await redis.ping()).toBe('PONG')
  expect(options.logger.lines.map((line) => line.event)).toContain('redis_connected')
  redis.disconnect()
})

test('a socket path connects to a Redis without a password', async () => {
  const admin = await connect(server.url)
  await admin.config('SET', 'requirepass', '')
  const redis = await connect(join(folder, 'redis.sock'))
  expect(await redis.ping()).toBe('PONG')
  await admin.config('SET', 'requirepass', new URL(server.url).password)
  redis.disconnect()
  admin.disconnect()
})

test('Redis commands of one event loop turn are sent together', async () => {
  const redis = await connect(server.url)
  const reads = async () => Number(/total_reads_processed:(\d+)/.exec(await redis.info('stats'))?.[1])
  const before = await reads()
  await Promise.all(Array.from({ length: 200 }, (_, index) => redis.set(`together:${index}`, '1')))
  expect((await reads()) - before).toBeLessThan(20)
  redis.disconnect()
})

test('replies are text, or bytes if asked for, wherever the network splits them', async () => {
  const redis = await connect(server.url)
  const bytes = Buffer.from([0, 255, 13, 10, 200])
  const long = 'naïve € 🎈 '.repeat(60_000)
  await redis.mset('bytes', bytes, 'text', 'naïve €', 'long', long)
  expect(await Promise.all([redis.get('text'), redis.getBuffer('bytes'), redis.get('absent')])).toEqual([
    'naïve €',
    bytes,
    null,
  ])
  expect(await redis.mget('long', 'text', 'absent', 'long')).toEqual([long, 'naïve €', null, long])
  const results = await redis.multi().get('text').getBuffer('bytes').incr('count').ping().mget('text', 'absent').exec()
  expect(results?.map(([, result]) => result)).toEqual(['naïve €', bytes, 1, 'PONG', ['naïve €', null]])
  await redis.xadd('stream', '1-1', 'name', 'naïve €')
  expect(await redis.xread('STREAMS', 'stream', '0')).toEqual([['stream', [['1-1', ['name', 'naïve €']]]]])
  redis.disconnect()
})

test('published messages arrive as text and as bytes', async () => {
  const [sender, receiver] = [await connect(server.url), await connect(server.url)]
  const got: unknown[] = []
  receiver.on('message', (_, text) => got.push(text)).on('messageBuffer', (_, bytes) => got.push(bytes))
  expect(await receiver.subscribe('news')).toBe(1)
  await sender.publish('news', 'naïve €')
  await until(() => got.length === 2)
  expect(got).toEqual(['naïve €', Buffer.from('naïve €')])
  expect(await receiver.unsubscribe('news')).toBe(0)
  expect(await receiver.get('text')).toBe('naïve €')
  for (const redis of [sender, receiver]) redis.disconnect()
})

test('waiting for a connection ends if the store is missing, or the client was closed', async () => {
  const options = { logger: memoryLogger() }
  const redis = connectRedis('redis://127.0.0.1:1', options)
  await expect(waitForRedis(redis, 50)).rejects.toThrow('in time')
  redis.disconnect()
  const other = await connect(server.url)
  other.disconnect()
  await until(() => other.status === 'end', 'the client to be closed')
  await expect(waitForRedis(other, PATIENCE_MS)).rejects.toThrow('closed')
})

test('a broken connection is reported and reconnected', async () => {
  const options = { logger: memoryLogger() }
  const redis = connectRedis(server.url, options)
  await waitForRedis(redis, PATIENCE_MS)
  const inFlight = expect(redis.blpop('nothing:comes', 0)).rejects.toThrow()
  await server.kill()
  await inFlight
  await expect(redis.ping()).rejects.toThrow()
  await server.restart()
  await until(() => redis.status === 'ready', 'the connection to be back')
  expect(await redis.ping()).toBe('PONG')
  expect(options.logger.lines.map((line) => line.event)).toContain('redis_disconnected')
  redis.disconnect()
})

test('without a tracer, Redis commands are not described', async () => {
  const redis = await connect(server.url)
  const described: string[] = []
  // What a tracer gets: the client builds it, arguments and all, for every command it traces.
  const client = redis as unknown as { _buildCommandContext(command: Command): { command: string } }
  const build = client._buildCommandContext
  client._buildCommandContext = (command) => {
    described.push(command.name)
    return build.call(redis, command)
  }
  await Promise.all([redis.set('traced', '1'), redis.incr('traced')])
  expect(described).toEqual([])

  const heard: unknown[] = []
  const listen = (message: unknown) => void heard.push((message as { command: string }).command)
  const start = channel('tracing:ioredis:command:start')
  start.subscribe(listen)
  expect(await redis.get('traced')).toBe('2')
  start.unsubscribe(listen)
  await redis.del('traced')
  expect(heard).toContain('get')
  expect(described).not.toContain('del')
  redis.disconnect()
})

test.each([1, 30, 60])(
  'a stall of this process that begins after %d ms does not count as silence of Redis',
  async (afterMs) => {
    const redis = connectRedis(server.url, { logger: memoryLogger(), commandTimeoutMs: 200 })
    await waitForRedis(redis, PATIENCE_MS)
    // Another client holds the store up, so that the replies come while nothing is read.
    const other = await connect(server.url)
    const held = other.eval(
      "local from = redis.call('TIME') repeat local now = redis.call('TIME') until (now[1] - from[1]) * 1000000 + now[2] - from[2] > 150000",
      0,
    )
    const replies = Array.from({ length: 50 }, () => redis.ping())
    // In the midst of reading from a socket, as the work for a request begins: timers that are due by then ring before anything else is read.
    const asking = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => standStill(700) } })
    const asker = await Bun.connect({ hostname: '127.0.0.1', port: asking.port, socket: { data: () => undefined } })
    spendThen(afterMs, () => void asker.write('now'))
    expect(new Set(await Promise.all(replies))).toEqual(new Set(['PONG']))
    await held
    redis.disconnect()
    other.disconnect()
  },
)

test('a command to a silent Redis times out', async () => {
  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const redis = connectRedis(`redis://127.0.0.1:${silent.port}`, { logger: memoryLogger(), commandTimeoutMs: 200 })
  await until(() => redis.status === 'connect' || redis.status === 'ready', 'a connection')
  await expect(redis.ping()).rejects.toThrow()
  redis.disconnect()
  silent.stop(true)
})
