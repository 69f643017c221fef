/** A stream from its first batch to its end: each kind of end settles once, and gives the client the right ending. */
import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import {
  type AnswerOptions,
  createTestAnswer,
  createTestSource,
  itemsOf,
  type TestAnswer,
  type TestSource,
} from '@test/gateway/answer-parts'
import { until } from '@test/support/until'
import { chatChunk, chatStream, usageChunk, usageOf } from '@test/support/upstream'
import type { StreamItem } from '@/gateway/attempt/repeats'
import { relayStream } from '@/gateway/relay/relay-stream'

const OVERLOADED = { error: { message: 'overloaded', type: 'server_error', code: 503 } }

let answer: TestAnswer
let source: TestSource
beforeEach(() => begin())

function begin(options: AnswerOptions = {}): void {
  answer = createTestAnswer(options)
  source = createTestSource()
}

const items = (...events: unknown[]): StreamItem[] => itemsOf(answer.providerFormat, ...events)
const give = (...events: unknown[]) => source.give({ kind: 'items', items: items(...events) })

function relayed(held: StreamItem[] = items(chatChunk({ content: 'first ' }))): Response {
  return relayStream(answer, { source, held, pending: undefined, isRaw: true })
}

type Reader = ReadableStreamDefaultReader<Uint8Array>
const readerOf = (response: Response): Reader => (response.body as ReadableStream<Uint8Array>).getReader()

async function readText(reader: Reader): Promise<string> {
  const { value } = await reader.read()
  return new TextDecoder().decode(value)
}

const settledAs = () => answer.told.counted.map(({ ending, status }) => `${ending} ${status}`)

describe('a stream that ends normally', () => {
  test('a complete stream is settled before the client sees its end, and the provider may close its connection', async () => {
    const response = relayed(items(...chatStream(['Hel', 'lo'], usageOf(10, 5))))
    const text = await response.text()
    expect(text).toEndWith('data: [DONE]\n\n')
    expect(answer.told).toMatchObject({ costs: [30_000], ended: [false], wrote: [5], ends: 1 })
    expect(settledAs()).toEqual(['complete 200'])
    expect([answer.deps.streams.count(), source.isAborted(), source.reads()]).toEqual([0, false, 1])
  })

  test('a stream’s headers are sent at once, with no buffering by proxies', () => {
    const { headers } = relayed()
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect([headers.get('cache-control'), headers.get('x-accel-buffering')]).toEqual(['no-cache', 'no'])
    expect(headers.get('x-svc-model')).toBe('svc/alpha')
  })

  test('a stream’s end is sent after the ledger has the settlement', async () => {
    const order: string[] = []
    const ledger = Promise.withResolvers<void>()
    answer.charge.hold.settle = async () => {
      order.push('asked')
      await ledger.promise
      order.push('known')
    }
    const response = relayed(items(...chatStream(['Hi'])))
    const ended = response.text().then(() => order.push('told'))
    await until(() => order.length > 0, 'the ledger to be asked')
    ledger.resolve()
    await ended
    expect(order).toEqual(['asked', 'known', 'told'])
  })

  test('a stream’s end has the cost that the client requested', async () => {
    begin({ changes: { epilogue: ({ model, durationMs, firstTokenMs }) => `${model} ${firstTokenMs} ${durationMs}` } })
    answer.clock.advance(0.4)
    const text = await relayed(items(...chatStream(['Hi']))).text()
    expect(text).toEndWith('svc/alpha 1000 1000')
  })

  test('a stream is read no faster than its client reads', async () => {
    const reader = readerOf(relayed())
    give(chatChunk({ content: 'second ' }))
    give(chatChunk({ content: 'third ' }))
    expect(await readText(reader)).toContain('first ')
    await until(() => source.reads() > 0, 'one read ahead')
    expect(source.reads()).toBe(1)
    expect(await readText(reader)).toContain('second ')
    await reader.cancel()
  })
})

describe('a stream that breaks', () => {
  const faults: [string, () => void][] = [
    [
      'a fault of the connection',
      () => source.give({ kind: 'failed', failure: { kind: 'broken', detail: 'ECONNRESET' } }),
    ],
    ['an error of the provider', () => give(OVERLOADED)],
    ['an end without terminator', () => source.give({ kind: 'done', events: [] })],
    ['the total limit, while the client reads nothing', () => source.expire()],
    ['a restart of the gateway', () => answer.deps.streams.interruptAll()],
  ]
  test.each(faults)(
    'a stream that breaks by %s ends in an error without terminator, and the relayed part is charged',
    async (_, fail) => {
      const reader = readerOf(relayed())
      const first = await readText(reader)
      fail()
      const text = first + (await readText(reader))
      expect((await reader.read()).done).toBe(true)
      expect(text).toContain('first ')
      expect(text).toContain('"error"')
      expect(text).not.toContain('[DONE]')
      await until(() => answer.told.counted.length > 0, 'the settlement')
      expect(settledAs()).toEqual(['broken 200'])
      expect(answer.told).toMatchObject({ settled: [{ rule: 'broken_counted' }], ended: [true], wrote: [], failed: [] })
      expect([answer.deps.streams.count(), source.isAborted()]).toEqual([0, true])
    },
  )

  test('a stream that breaks before content is free and listed as failed', async () => {
    const response = relayed(items(chatChunk({ role: 'assistant' })))
    source.give({ kind: 'failed', failure: { kind: 'broken', detail: 'ECONNRESET' } })
    await response.text()
    await until(() => answer.told.counted.length > 0, 'the settlement')
    expect(answer.told).toMatchObject({ settled: [], released: 1, failed: ['req_1 502'] })
  })

  test('content in the same batch as a fault is relayed first', async () => {
    const response = relayed()
    give(chatChunk({ content: 'second ' }), OVERLOADED)
    expect(await response.text()).toMatch(/first [\s\S]*second [\s\S]*"error"/)
  })
})

describe('a stream beyond its output limit', () => {
  test('a stream beyond its limit is counted, cut and ended normally, and its provider call is cancelled', async () => {
    begin({ outputBound: 20 })
    const text = relayed(
      items(
        ...' many words'
          .repeat(200)
          .split(/(?= )/)
          .map((content) => chatChunk({ content })),
      ),
    ).text()
    expect(await text).toMatch(/"finish_reason":"length"[\s\S]*data: \[DONE\]\n\n$/)
    expect(answer.told).toMatchObject({ settled: [{ rule: 'cut_counted', flags: ['estimated'] }], ended: [false] })
    expect(settledAs()).toEqual(['cut 200'])
    expect(answer.told.settled[0]?.usage.output).toBeLessThan(120)
    expect(source.isAborted()).toBe(true)
  })

  test('if a client disconnects while a stream beyond its limit is counted, the stream is settled once', async () => {
    begin({ outputBound: 20 })
    const reader = readerOf(
      relayed(
        items(
          ...' many words'
            .repeat(200)
            .split(/(?= )/)
            .map((content) => chatChunk({ content })),
        ),
      ),
    )
    await reader.cancel()
    await until(() => answer.told.counted.length > 0, 'the settlement')
    expect(settledAs()).toEqual(['disconnected 499'])
  })
})

describe('a client that disconnects', () => {
  test('a disconnect ends the call and charges the relayed part', async () => {
    const reader = readerOf(relayed())
    await readText(reader)
    await reader.cancel()
    await until(() => answer.told.counted.length > 0, 'the settlement')
    expect(settledAs()).toEqual(['disconnected 499'])
    expect(answer.told).toMatchObject({ settled: [{ rule: 'disconnect_counted' }], ended: [false] })
    expect(source.isAborted()).toBe(true)
  })

  test('a disconnect before the first read also ends the provider’s call', async () => {
    begin({ changes: { signal: AbortSignal.abort() } })
    relayed()
    await until(() => answer.told.counted.length > 0, 'the settlement')
    expect(settledAs()).toEqual(['disconnected 499'])
  })

  test('with the drain policy, a call continues after a disconnect, and later chunks are charged', async () => {
    begin({ providerChanges: { onDisconnect: { kind: 'drain', maxMs: 5_000, maxConcurrent: 1 } } })
    const reader = readerOf(relayed())
    expect(source.outlivesClient()).toBe(true)
    await readText(reader)
    const left = reader.cancel()
    give(...chatStream(['more'], usageOf(40, 21)).slice(1))
    source.give({ kind: 'done', events: [] })
    await left
    await until(() => answer.told.counted.length > 0, 'the settlement')
    expect(answer.told).toMatchObject({ costs: [40 * 1_000 + 21 * 4_000], settled: [{ rule: 'disconnect_usage' }] })
  })

  test.each([
    ['has sent its finish reason', () => source.finish()],
    ['may have hidden reasoning', () => Object.assign(answer, { mayReason: true })],
    ['may have used tools', () => Object.assign(answer.charge, { tools: [] })],
    ['has sent reasoning', () => answer.charge.meter.observe({ type: 'reasoning-start', choice: 0, block: 9 })],
  ])('after a disconnect the gateway waits for the provider’s end if the provider %s', async (_, owe) => {
    begin({ providerChanges: { onDisconnect: { kind: 'auto', maxMs: 5_000, maxConcurrent: 1 } } })
    owe()
    const reader = readerOf(relayed())
    await readText(reader)
    const left = reader.cancel()
    give(usageChunk(usageOf(40, 5_020)))
    source.give({ kind: 'done', events: [] })
    await left
    await until(() => answer.told.counted.length > 0, 'the settlement')
    expect(answer.told).toMatchObject({ settled: [{ rule: 'disconnect_usage', flags: ['clamped'] }] })
  })

  test('a disconnect before the first byte costs the input, unless the ledger makes it free', async () => {
    begin({ providerChanges: { onDisconnect: { kind: 'drain', maxMs: 5_000, maxConcurrent: 1 } } })
    source.beSilent()
    await relayed([]).body?.cancel()
    await until(() => answer.told.counted.length > 0, 'the settlement')
    expect(settledAs()).toEqual(['unanswered 499'])
    expect(answer.told).toMatchObject({ costs: [20_000], settled: [{ rule: 'hangup_input' }] })
    expect(source.isAborted()).toBe(true)
  })

  test.each([
    ['the provider cannot report more usage', { kind: 'auto', maxMs: 5_000, maxConcurrent: 1 }],
    ['all drain slots are taken', { kind: 'drain', maxMs: 5_000, maxConcurrent: 0 }],
  ] as const)('a disconnect ends the call and costs the relayed part if %s', async (_, onDisconnect) => {
    begin({ providerChanges: { onDisconnect } })
    const reader = readerOf(relayed())
    await readText(reader)
    await reader.cancel()
    expect(source.isAborted()).toBe(true)
    await until(() => answer.told.counted.length > 0, 'the settlement')
    expect(answer.told).toMatchObject({ settled: [{ rule: 'disconnect_counted' }] })
  })

  test('if the gateway stops, an answer that is still read after a disconnect is settled as far as read', async () => {
    begin({ providerChanges: { onDisconnect: { kind: 'drain', maxMs: 60_000, maxConcurrent: 1 } } })
    const reader = readerOf(relayed())
    await readText(reader)
    void reader.cancel()
    await until(() => source.reads() > 0 && answer.deps.streams.count() > 0, 'the reading on')
    answer.deps.streams.interruptAll()
    await until(() => answer.told.counted.length > 0, 'the settlement')
    expect(settledAs()).toEqual(['disconnected 499'])
  })

  test('after a disconnect, later events of the provider do not change the charge', async () => {
    const reader = readerOf(relayed())
    await readText(reader)
    await reader.cancel()
    source.expire()
    answer.deps.streams.interruptAll()
    await until(() => answer.told.counted.length > 0, 'the settlement')
    expect(settledAs()).toEqual(['disconnected 499'])
    expect(answer.deps.logger.lines.map((line) => line.event)).toEqual(['chat'])
  })
})

describe('a provider that is silent', () => {
  beforeEach(() => void jest.useFakeTimers())
  afterEach(() => void jest.useRealTimers())

  test('while the provider is silent, the client gets a keep-alive every fifteen seconds', async () => {
    const reader = readerOf(relayed())
    expect(await readText(reader)).toContain('first ')
    const next = readText(reader)
    jest.advanceTimersByTime(31_000)
    expect(await next).toBe(': keepalive\n\n')
    give(chatChunk({ content: 'second ' }))
    expect(await readText(reader)).toContain('second ')
    const last = reader.read()
    jest.advanceTimersByTime(14_000)
    source.give({ kind: 'failed', failure: { kind: 'broken', detail: 'over' } })
    expect(new TextDecoder().decode((await last).value)).toContain('"error"')
  })
})
