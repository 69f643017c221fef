/**
 * Relays an answer to a client as a stream, from the commit point to whatever ends it. Owns the reader, back-pressure,
 * keep-alives, interruption and hang-ups.
 *
 * A relay is open until exactly one of these closes it: the upstream's terminator (settled before the client sees it, so that
 * the balance is right when the stream ends), an answer far beyond its output limit (which is cut there, and ends like one that
 * kept to it), a fault of the upstream or an interruption (the client gets an error in its own format and no terminator), or the
 * client's hang-up (nobody is left to tell). The upstream is read only when the client takes
 * more, so a slow client costs one batch of memory.
 */
import { GatewayError } from '@/chat/error'
import type { DrainSlots } from '@/gateway/attempt/drain-slots'
import type { StreamItem } from '@/gateway/attempt/repeats'
import { letUpstreamClose, RUNAWAY, type StreamBatch, type StreamSource } from '@/gateway/attempt/stream-source'
import { countNow, lacksCount } from '@/gateway/charge/open-charge'
import { isBeyondLimit } from '@/gateway/charge/output-limit'
import type { SettleDeps } from '@/gateway/charge/settle'
import type { SignatureStore } from '@/gateway/signatures/signature-store'
import type { Charge } from '@/ledger/charge'
import { assert } from '@/lib/assert'
import type { Metrics } from '@/metrics/metrics'
import { toGatewayError, type UpstreamFailure } from '@/upstream/failure'
import type { ActiveStreams } from './active-streams'
import { drainPolicy, drainUpstream } from './drain'
import { answerHeaders, type HeaderFacts, streamHeaders } from './headers'
import { completeAnswer, endAnswer, type RelayedAnswer } from './relayed'
import { createStreamWriter, type StreamWriter, writeBatch } from './stream-writer'

export type RelayDeps = SettleDeps & {
  metrics: Pick<Metrics, 'answered' | 'overhead' | 'repaired'>
  streams: Pick<ActiveStreams, 'add'>
  drains: DrainSlots
  signatures: Pick<SignatureStore, 'keep'>
}

type StreamInput = {
  source: StreamSource
  /** Read before the commit point. */
  held: StreamItem[]
  /** A read under way since before the commit point. */
  pending: Promise<StreamBatch> | undefined
  /** Whether the items are the provider's own events; false for those made from a complete answer. */
  isRaw: boolean
}

/** How long the upstream may be silent before the client gets a sign of life. */
export const KEEP_ALIVE_MS = 15_000

type Relay = {
  deps: RelayDeps
  answer: RelayedAnswer
  source: StreamSource
  writer: StreamWriter
  /** Batches that were under way before the client began to read, in order. */
  early: Promise<StreamBatch>[]
  /** The read that somebody waits for right now. */
  reading: Promise<StreamBatch> | undefined
  client: ReadableStreamDefaultController<Uint8Array> | undefined
  isOpen: boolean
  isIdle: boolean
  stopTimers(): void
}

const encoder = new TextEncoder()

/** Answers with a stream, which owns the answer's hold from now on. */
export function relayStream(deps: RelayDeps, answer: RelayedAnswer, input: StreamInput, told: HeaderFacts): Response {
  const { client, charge } = answer
  const relay = openRelay(deps, answer, input)
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      relay.client = controller
    },
    pull: () => pump(relay),
    cancel: () => hangUp(relay),
  })
  const headers = { ...answerHeaders(deps, client.format, charge, told), ...streamHeaders(client.framing) }
  // Nobody will read, and so nobody will say that they stopped reading.
  if (client.signal.aborted) void hangUp(relay)
  return new Response(body, { headers })
}

function openRelay(deps: RelayDeps, answer: RelayedAnswer, input: StreamInput): Relay {
  const { client, provider, charge } = answer
  const early: Promise<StreamBatch>[] = []
  if (input.held.length > 0) early.push(Promise.resolve({ kind: 'items', items: input.held }))
  if (input.pending) early.push(input.pending)
  const unregister = deps.streams.add(() => fail(relay, shuttingDown()))
  const keepAlive = setInterval(() => {
    if (relay.isIdle && relay.isOpen) send(relay, client.framing.keepAlive)
    relay.isIdle = true
  }, KEEP_ALIVE_MS)
  const relay: Relay = {
    deps,
    answer,
    source: input.source,
    writer: createStreamWriter(answer, input.isRaw),
    early,
    reading: undefined,
    client: undefined,
    isOpen: true,
    isIdle: true,
    stopTimers() {
      clearInterval(keepAlive)
      unregister()
    },
  }
  // A client that takes nothing must not keep the call open: the upstream's overtime is told even while nobody reads.
  input.source.onOvertime((failure) => void failUpstream(relay, failure))
  // Until here the client's hang-up stopped the upstream; from here on it reaches us first.
  if (provider.onDisconnect.kind !== 'abort') input.source.outliveClient()
  charge.hold.handOver()
  return relay
}

/** Moves batches until the client has something to read or the relay is closed. */
async function pump(relay: Relay): Promise<void> {
  while (relay.isOpen) {
    relay.reading = relay.early.shift() ?? relay.source.next()
    const batch = await relay.reading
    relay.reading = undefined
    if (batch.kind === 'done' && lacksCount(relay.answer.charge)) await countNow(relay.answer.charge)
    if (!relay.isOpen) return
    if (batch.kind === 'failed') return failUpstream(relay, batch.failure)
    const written = writeBatch(relay.writer, batch)
    noteFirstToken(relay)
    if (written.failure) return failUpstream(relay, written.failure, written.text)
    if (written.isComplete) return complete(relay, written.text)
    if (written.rest) {
      const verdict = await judge(relay, written.rest)
      if (verdict === 'gone') return
      if (verdict === 'beyond') return cut(relay, written.text)
    }
    if (relay.answer.charge.meter.isRunaway()) return failUpstream(relay, RUNAWAY, written.text)
    if (written.text !== '') {
      relay.isIdle = false
      return send(relay, written.text)
    }
  }
}

/** Counts the answer, which is at its end or may be beyond its limit; `rest` goes on where it may go on. */
async function judge(relay: Relay, rest: StreamBatch): Promise<'beyond' | 'within' | 'gone'> {
  const { charge } = relay.answer
  relay.early.unshift(Promise.resolve(rest))
  const counted = await countNow(charge)
  if (!relay.isOpen) return 'gone'
  if (!charge.meter.isSuspect()) return 'within'
  if (counted !== undefined && isBeyondLimit(counted, charge.hold.size.bounds.outputTokens)) return 'beyond'
  charge.meter.acquit(counted)
  return 'within'
}

/** Stops the provider in the middle of an answer that is beyond its limit: the client gets an end, as of one that kept to it. */
async function cut(relay: Relay, text: string): Promise<void> {
  if (!close(relay)) return
  const { deps, answer, source, writer } = relay
  source.abort()
  const { requestId } = answer.client
  deps.logger.warn('answer_cut', { requestId, provider: answer.provider.name, counted: answer.charge.counted?.tokens })
  const charge = await completeAnswer(deps, answer, 'cut')
  assert(charge.kind === 'charge', 'an answer that is cut has output')
  send(relay, (await kept(relay, text + writer.cut(charge.usage), 'cut')) + epilogueOf(relay, charge))
  endClient(relay)
}

async function complete(relay: Relay, text: string): Promise<void> {
  if (!close(relay)) return
  const charge = await completeAnswer(relay.deps, relay.answer)
  send(relay, (await kept(relay, text, 'complete')) + epilogueOf(relay, charge))
  endClient(relay)
  void letUpstreamClose(relay.source)
}

/** What the client is told at the end, once the answer is where the next request may look for it. */
async function kept({ answer }: Relay, lastWords: string, ending: 'complete' | 'cut'): Promise<string> {
  const { keep } = answer.client
  return keep ? await keep(lastWords, ending) : lastWords
}

function epilogueOf(relay: Relay, charge: Charge): string {
  const { client, context, charge: open } = relay.answer
  if (!client.epilogue) return ''
  const { requestId } = client
  const firstTokenMs = open.meter.firstTokenMs()
  return client.epilogue({ requestId, model: context.model, charge, firstTokenMs, durationMs: sinceArrival(relay) })
}

function failUpstream(relay: Relay, failure: UpstreamFailure, textBefore = ''): Promise<void> {
  const { deps, answer } = relay
  if (relay.isOpen) deps.tracing?.failed(answer.client.requestId, answer.ticket.number, failure)
  return fail(relay, toGatewayError(failure, relay.answer.provider), textBefore)
}

async function fail(relay: Relay, error: GatewayError, textBefore = ''): Promise<void> {
  if (!close(relay)) return
  const { deps, answer, source } = relay
  source.abort()
  const reason = error.options.cause ?? error.message
  answer.charge.line.fault = error
  deps.logger.warn('stream_failed', { requestId: answer.client.requestId, reason })
  send(relay, textBefore + relay.writer.fail(error))
  endClient(relay)
  await endAnswer(deps, answer, 'broken')
}

async function hangUp(relay: Relay): Promise<void> {
  if (!close(relay)) return
  const { deps, answer, source } = relay
  const { provider, client, charge } = answer
  const { meter } = charge
  const policy = drainPolicy(answer, source)
  const giveBack = policy && deps.drains.take(provider.name, client.accountId, policy.maxConcurrent)
  if (policy && giveBack) {
    const underWay = relay.reading ? [relay.reading, ...relay.early] : relay.early
    const unregister = deps.streams.add(source.abort)
    await drainUpstream(source, underWay, meter, policy)
    unregister()
    giveBack()
  }
  if (meter.hasEnded()) void letUpstreamClose(source)
  else source.abort()
  await endAnswer(deps, answer, source.hasSent() ? 'disconnected' : 'unanswered')
}

/** Closes the relay for good; false where something else already has. */
function close(relay: Relay): boolean {
  if (!relay.isOpen) return false
  relay.isOpen = false
  relay.stopTimers()
  return true
}

function send(relay: Relay, text: string): void {
  if (text === '') return
  try {
    relay.client?.enqueue(encoder.encode(text))
  } catch {
    // The client is gone and its hang-up is on its way to us: that closes the relay, not this.
  }
}

function endClient(relay: Relay): void {
  try {
    relay.client?.close()
  } catch {
    // The client hung up in this very moment: there is nobody left to close for.
  }
}

function noteFirstToken(relay: Relay): void {
  const { meter } = relay.answer.charge
  if (meter.firstTokenMs() === null && meter.hasOutput()) meter.noteDelivery(sinceArrival(relay))
}

function sinceArrival({ deps, answer }: Relay): number {
  return Math.round(deps.clock.monotonic() - answer.charge.arrivedMonotonicMs)
}

/** What the clients of streams are told when the process ends. */
export function shuttingDown(): GatewayError {
  return new GatewayError('overloaded', 'The service is restarting. Try again.', { retryAfterSeconds: 1 })
}
