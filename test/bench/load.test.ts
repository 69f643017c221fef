/** The load generator against the mock upstream, as in every measurement. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Shot, WireFormat } from '@bench/load/job'
import { type LoadClient, startLoadClient } from '@bench/machine/load-client'
import { type MockUpstream, startMockUpstream } from '@bench/machine/upstream'
import { plainShot } from '@bench/peers/peer'
import { until } from '@test/support/until'

const FORMATS: WireFormat[] = ['chat-completions', 'messages', 'generate-content']
let upstream: MockUpstream
let client: LoadClient

beforeAll(async () => {
  upstream = await startMockUpstream()
  client = startLoadClient()
})

afterAll(async () => {
  await Promise.all([client.stop(), upstream.stop()])
})

function shot(format: WireFormat, model: string): Shot {
  const traffic = { client: format, provider: format, model, stream: model !== 'json', promptBytes: 1024 }
  return plainShot(traffic, upstream.port) as Shot
}

describe('a closed loop', () => {
  test('a closed loop of requests counts the answers', async () => {
    // Long enough that a busy machine answers some connection twice.
    const job = { kind: 'closed', shot: shot('messages', 'json'), connections: 4, durationMs: 500, rampMs: 0 } as const
    const { answered, failures, latency } = await client.run(job)
    expect(answered).toBeGreaterThan(4)
    expect(failures).toEqual({})
    expect(latency.p50).toBeGreaterThan(0)
    expect(latency.worst).toBeGreaterThanOrEqual(latency.p99)
  })

  test.each(FORMATS)('the load generator counts the answers, and the chunks of streams, in %s', async (format) => {
    const run = (model: string) => {
      const once = { ...shot(format, model), keys: ['', '', ''], keyHeader: { name: 'x', prefix: '' } }
      return client.run({ kind: 'once', shot: once, connections: 3, timeoutMs: 5_000 })
    }
    expect(await run('json')).toMatchObject({ answered: 3, failures: {}, chunks: 0 })
    const { answered, chunks, firstToken, chunkDelay } = await run('stream-5-2')
    expect([answered, chunks]).toEqual([3, 15])
    expect(firstToken.p50).toBeGreaterThan(0)
    expect(chunkDelay.worst).toBeGreaterThan(0)
  })

  test('a closed loop of requests reads open streams to their end when the time is up', async () => {
    const long = shot('messages', 'stream-100-10')
    const job = { kind: 'closed', shot: long, connections: 4, durationMs: 50, rampMs: 0 } as const
    const { answered, failures, chunks } = await client.run(job)
    expect({ answered, failures, chunks }).toEqual({ answered: 4, failures: {}, chunks: 400 })
  })

  test('the load generator does not count an answer with too few chunks', async () => {
    const longer = { ...shot('messages', 'stream-5-2'), pieces: 6 }
    const { answered, failures } = await client.run({
      kind: 'closed',
      shot: longer,
      connections: 1,
      durationMs: 100,
      rampMs: 0,
    })
    expect(answered).toBe(0)
    expect(failures['cut short']).toBeGreaterThan(0)
  })

  test('a closed loop of requests reports failed answers', async () => {
    const closedPort = { ...shot('messages', 'json'), port: 1 }
    const job = { kind: 'closed', shot: closedPort, connections: 1, durationMs: 50, rampMs: 0 } as const
    const { answered, failures } = await client.run(job)
    expect(answered).toBe(0)
    expect(failures.unreachable).toBeGreaterThan(0)
  })
})

test('the load generator uses one socket per connection, and closes it at the end', async () => {
  const opened = new Set<object>()
  let open = 0
  const server = Bun.listen<undefined>({
    ...{ hostname: '127.0.0.1', port: 0 },
    socket: {
      open(socket) {
        opened.add(socket)
        open += 1
      },
      data: (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'),
      close() {
        open -= 1
      },
    },
  })
  const target = { ...shot('messages', 'json'), port: server.port }
  await client.run({ kind: 'closed', shot: target, connections: 20, durationMs: 100, rampMs: 0 })
  expect(opened.size).toBe(20)
  await until(() => open === 0)
  server.stop(true)
})

test('an open loop sends requests at its configured rate', async () => {
  const job = { kind: 'open', shot: shot('messages', 'json'), ratePerSecond: 200, durationMs: 500 } as const
  const { answered, failures } = await client.run(job)
  expect(failures).toEqual({})
  expect(answered).toBe(100)
})

test('the load generator holds streams open at the same time', async () => {
  const job = {
    kind: 'held',
    shot: shot('messages', 'stream-1000-50'),
    connections: 50,
    rampMs: 50,
    durationMs: 1_000,
  } as const
  let open = 0
  const { chunks } = await client.run(job, (count) => {
    open = count
  })
  expect(open).toBe(50)
  expect(chunks).toBeGreaterThan(100)
})

test('the load generator opens slow clients together, and each stops reading after the beginning', async () => {
  const job = { kind: 'stopped', shot: shot('messages', 'flood-8000'), connections: 64, durationMs: 50 } as const
  let open = 0
  const { answered, failures } = await client.run(job, (count) => {
    open = count
  })
  expect({ open, answered, failures }).toEqual({ open: 64, answered: 64, failures: {} })
})
