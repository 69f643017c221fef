/** One answer in the test's hands: its provider's stream, its client, its hold, and everything that was told to anybody. */
import { FACTS, memoryLogger } from '@test/ledger/harness'
import { type ManualClock, manualClock, modelOf, providerOf } from '@test/routing/world'
import type { Provider } from '@/catalog/types'
import type { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { FormatName } from '@/chat/format-name'
import type { Format } from '@/formats/format'
import { FORMATS } from '@/formats/index'
import { createDrainSlots } from '@/gateway/attempt/drain-slots'
import type { StreamItem } from '@/gateway/attempt/repeats'
import type { StreamBatch, StreamSource } from '@/gateway/attempt/stream-source'
import { Meter } from '@/gateway/charge/meter'
import type { OpenCharge } from '@/gateway/charge/open-charge'
import { createActiveStreams } from '@/gateway/relay/active-streams'
import { type Client, type RelayDeps, RelayedAnswer } from '@/gateway/relay/relayed'
import type { RequestFacts } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import { nano } from '@/lib/money'
import { Pipe } from '@/lib/streams/pipe'
import { SseParser } from '@/lib/streams/sse'
import { type EndedAnswer, tellEnded } from '@/metrics/ended-answer'
import { openLine, type RequestLine } from '@/metrics/request-line'
import type { Permit } from '@/routing/failover/permit'
import type { UpstreamFailure } from '@/upstream/failure'

/** The codec of a format, which there is. */
export function formatOf(name: FormatName): Format {
  const format = FORMATS.get(name)
  assert(format, `there is a codec for ${name}`)
  return format
}

/** The items that a provider's events make, each in a block of its own; text goes as it is, anything else as JSON. */
export function itemsOf(format: Format, ...events: unknown[]): StreamItem[] {
  const parser = new SseParser()
  const decoder = format.createStreamDecoder()
  return events.flatMap((event) => {
    const data = typeof event === 'string' ? event : JSON.stringify(event)
    return parser.push(new TextEncoder().encode(`data: ${data}\n\n`)).map((sse) => {
      const json = typeof event === 'string' ? undefined : (event as StreamItem['json'])
      return { sse, json, events: decoder.push(sse, json) }
    })
  })
}

/** Items of the hub's own events, as an answer in one piece makes them. */
export function hubItems(...events: ChatEvent[]): StreamItem[] {
  return events.map((event) => ({
    sse: { event: undefined, data: undefined, raw: '' },
    json: undefined,
    events: [event],
  }))
}

export interface TestSource extends StreamSource {
  /** What the next read gets; a read that is waiting gets it now. */
  give(...batches: StreamBatch[]): void
  /** The upstream has taken too long in all. */
  expire(): void
  readonly reads: () => number
  /** The provider has not said a byte. */
  beSilent(): void
  /** The provider has said why it stopped. */
  finish(): void
  readonly isAborted: () => boolean
  readonly outlivesClient: () => boolean
}

/** A provider's stream that says what it is told to. */
export function createTestSource(): TestSource {
  const ready: StreamBatch[] = []
  const waiting: ((batch: StreamBatch) => void)[] = []
  let [reads, isAborted, outlives, isFinished, isSilent] = [0, false, false, false, false]
  let tellOvertime: (failure: UpstreamFailure) => void = () => undefined
  /** What was read for a pipe whose reader has left. */
  let left: Promise<StreamBatch> | undefined
  function read(): Promise<StreamBatch> {
    reads++
    const batch = ready.shift()
    return batch ? Promise.resolve(batch) : new Promise((resolve) => waiting.push(resolve))
  }
  return {
    named: (failure) => failure,
    next() {
      const batch = left
      left = undefined
      return batch ?? read()
    },
    pipeThrough(sink) {
      const batches = new ReadableStream<StreamBatch>(
        {
          async pull(stream) {
            left = read()
            stream.enqueue(await left)
          },
        },
        { highWaterMark: 0 },
      )
      const take = (batch: StreamBatch) => {
        left = undefined
        return sink.write(batch)
      }
      const pipe = new Pipe<StreamBatch>({
        start: (end) => sink.start(end),
        cancel: () => sink.cancel(),
        received: () => undefined,
        transform: take,
        flush: () => undefined,
      })
      void pipe.flowFrom(batches)
      return pipe.readable
    },
    give(...batches) {
      for (const batch of batches) {
        const read = waiting.shift()
        if (read) read(batch)
        else ready.push(batch)
      }
    },
    onOvertime(listener) {
      tellOvertime = listener
    },
    expire: () => tellOvertime({ kind: 'timeout', phase: 'total' }),
    outliveClient() {
      outlives = true
    },
    abort() {
      isAborted = true
      for (const read of waiting.splice(0)) read({ kind: 'failed', failure: { kind: 'broken', detail: 'aborted' } })
    },
    finish() {
      isFinished = true
    },
    hasSent: () => !isSilent,
    beSilent() {
      isSilent = true
    },
    isFinished: () => isFinished,
    reads: () => reads,
    isAborted: () => isAborted,
    outlivesClient: () => outlives,
  }
}

export type TestAnswer = RelayedAnswer & {
  deps: RelayDeps & { streams: ReturnType<typeof createActiveStreams>; logger: ReturnType<typeof memoryLogger> }
  clock: ManualClock
  /** How the hold ended: what was charged and written, or that it was released; how the permit did; what was counted and noted as failed; how often the client's end was told. */
  told: {
    settled: RequestFacts[]
    costs: number[]
    released: number
    ended: boolean[]
    wrote: number[]
    counted: EndedAnswer[]
    ends: number
    repairs: string[]
    failed: string[]
    thrownAway: string[]
  }
}

export type AnswerOptions = {
  client?: FormatName
  provider?: FormatName
  changes?: Partial<Client>
  providerChanges?: Partial<Provider>
  outputBound?: number
}

/** An answer that has just begun. The request came a second ago. */
export function createTestAnswer(options: AnswerOptions = {}): TestAnswer {
  const { client = 'chat-completions', provider: providerFormat = client, outputBound = 1_000 } = options
  const clock = manualClock()
  const told: TestAnswer['told'] = {
    ...{ settled: [], costs: [], released: 0, ended: [], wrote: [], counted: [] },
    ...{ ends: 0, repairs: [], failed: [], thrownAway: [] },
  }
  const provider = providerOf('p', { format: providerFormat, ...options.providerChanges })
  const format = formatOf(client)
  const logger = memoryLogger()
  const deps = {
    clock,
    logger,
    onEnded: tellEnded({ answered: (answer) => void told.counted.push(answer) }, logger),
    metrics: {
      overhead: () => undefined,
      thrownAway: (_: string, cause: string, cost: number | undefined) => void told.thrownAway.push(`${cause} ${cost}`),
      repaired: (_: string, field: string) => void told.repairs.push(field),
    },
    failures: {
      note: ({ requestId, error }: { requestId: string; error: GatewayError }) =>
        void told.failed.push(`${requestId} ${error.status}`),
    },
    crashPoint: () => undefined,
    streams: createActiveStreams(),
    drains: createDrainSlots(),
    signatures: { keep: async () => undefined },
  }
  const asking: Client = {
    requestId: 'req_1',
    payer: { accountId: 'acct_1', keyId: 'key_1' },
    format,
    framing: format.framing,
    wantsStream: true,
    signal: new AbortController().signal,
    epilogue: undefined,
    onEnd: () => void told.ends++,
    keep: undefined,
    isPrivate: false,
    ...options.changes,
  }
  const permit = {
    planned: { target: { provider } },
    ended: (isBroken: boolean) => void told.ended.push(isBroken),
    wrote: (tokens: number) => void told.wrote.push(tokens),
  } as unknown as Permit
  const charge = createTestCharge(told, clock, outputBound, permit)
  const attempt = { providerFormat: formatOf(providerFormat), permit, charge, leftOut: [] }
  const context = {
    id: 'req_1',
    model: 'svc/alpha',
    created: 1_760_000_000,
    wantsUsage: true,
    wantsReasoning: true,
    estimatedInputTokens: 20,
  }
  const known = { context, mayReason: false, upstreamMs: 0, loweredCap: undefined }
  return Object.assign(new RelayedAnswer(deps, asking, attempt, known), { told, clock, deps })
}

/** The line in the log of a request by that account and key. */
export function testLine(arrivedMonotonicMs = 0): RequestLine {
  const arrived = { requestId: 'req_1', arrivedMonotonicMs, signal: new AbortController().signal }
  const line = openLine('chat', 'chat-completions', '/v1/chat/completions', arrived)
  return { ...line, payer: { accountId: 'acct_1', keyId: 'key_1' } }
}

/** A charge at 1,000 and 4,000 nano-USD a token, on a hold that notes how it ends. */
function createTestCharge(
  told: TestAnswer['told'],
  clock: ManualClock,
  outputBound: number,
  permit: Permit,
): OpenCharge {
  const arrivedMonotonicMs = clock.monotonic()
  clock.advance(1_000)
  const { usage: _usage, rule: _rule, flags: _flags, status: _status, durationMs: _end, ...facts } = FACTS
  const limit = { limit: 60, remaining: 59, resetMs: 1_000 }
  let isOver = false
  async function end(note: () => void): Promise<undefined> {
    if (!isOver) note()
    isOver = true
  }
  return {
    payer: { accountId: 'acct_1', keyId: 'key_1' },
    pricing: modelOf('svc/alpha', []).pricing,
    writesForHour: false,
    bearsTiers: false,
    tools: undefined,
    permit,
    meter: new Meter(outputBound),
    facts: { ...facts, attempts: 2, routeReason: 'requested' },
    line: testLine(arrivedMonotonicMs),
    arrivedMonotonicMs,
    hold: {
      limits: { requests: limit, tokens: limit },
      size: {
        amount: nano(10_000_000),
        inputCost: nano(20_000),
        bounds: { inputTokens: 1_000, outputTokens: outputBound },
        rateTokens: 20,
        estimatedInput: 20,
      },
      onRenewal: () => undefined,
      handOver: () => undefined,
      settle: ({ cost }, facts) =>
        end(() => {
          told.settled.push(facts)
          told.costs.push(cost)
        }),
      release: () => end(() => void told.released++),
    },
  }
}
