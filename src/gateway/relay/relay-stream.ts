/**
 * Relays an answer to a client as a stream, from the commit point to whatever ends it. Owns
 * keep-alives, interruption and hang-ups.
 *
 * A relay is open until exactly one of these closes it: the upstream's terminator (settled before the client sees it, so that
 * the balance is right when the stream ends), an answer far beyond its output limit (which is cut there, and ends like one that
 * kept to it), a fault of the upstream or an interruption (the client gets an error in its own format and no terminator), or the
 * client's hang-up (nobody is left to tell). The upstream flows through a TransformStream at the pace of its client, so a slow
 * one costs two reads of memory; where nothing has to be put right, its bytes are passed on as they came.
 */
import { type GatewayError, restarting } from '@/chat/error'
import type { StreamItem } from '@/gateway/attempt/repeats'
import {
  type BatchSink,
  letUpstreamClose,
  RUNAWAY,
  type StreamBatch,
  type StreamSource,
} from '@/gateway/attempt/stream-source'
import { beyondLimit } from '@/gateway/charge/charge'
import { countNow, lacksCount } from '@/gateway/charge/open-charge'
import type { Charge } from '@/ledger/charge'
import { assert } from '@/lib/assert'
import type { PipeEnd } from '@/lib/streams/pipe'
import { dueIn, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'
import { toGatewayError, type UpstreamFailure } from '@/upstream/failure'
import { drainPolicy, drainUpstream } from './drain'
import { answerHeaders, streamHeaders } from './headers'
import { completeAnswer, endAnswer, type RelayedAnswer } from './relayed'
import { StreamWriter } from './stream-writer'

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

const encoder = new TextEncoder()

/** Answers with a stream, which owns the answer's hold from now on. */
export function relayStream(answer: RelayedAnswer, input: StreamInput): Response {
  const { deps, client, charge } = answer
  const relay = new Relay(answer, input)
  const headers = { ...answerHeaders(deps, client.format, charge, answer), ...streamHeaders(client.framing) }
  if (client.signal.aborted) {
    // Nobody will read, and so nobody will say that they stopped reading.
    void hangUp(relay)
    return new Response(null, { headers })
  }
  return new Response(input.source.pipeThrough(relay), { headers })
}

/** One stream on its way to its client: where its batches go, and what there is to know of it. */
class Relay implements BatchSink, Timed {
  /** When its client gets a sign of life, if nothing is sent before. */
  dueAtMs = dueIn(KEEP_ALIVE_MS)
  readonly source: StreamSource
  readonly writer: StreamWriter
  /** What was read and is not written yet, in order. */
  readonly early: Promise<StreamBatch>[] = []
  client: PipeEnd | undefined = undefined
  isOpen = true
  isIdle = true
  private readonly unregister: () => void

  /** From now on the answer's hold is its own. */
  constructor(
    readonly answer: RelayedAnswer,
    { source, held, pending, isRaw }: StreamInput,
  ) {
    const { deps, provider, charge } = answer
    this.source = source
    this.writer = new StreamWriter(answer, isRaw)
    if (held.length > 0) this.early.push(Promise.resolve({ kind: 'items', items: held }))
    if (pending) this.early.push(pending)
    this.unregister = deps.streams.add(() => fail(this, restarting()))
    watch(this)
    // A client that takes nothing must not keep the call open: the upstream's overtime is told even while nobody reads.
    source.onOvertime((failure) => void failUpstream(this, failure))
    // Until here the client's hang-up stopped the upstream; from here on it reaches us first.
    if (provider.onDisconnect.kind !== 'abort') source.outliveClient()
    charge.hold.handOver()
  }

  start(end: PipeEnd): Promise<void> | undefined {
    this.client = end
    return this.early.length > 0 ? begin(this) : undefined
  }

  write(batch: StreamBatch): Promise<void> | undefined {
    return take(this, batch)
  }

  cancel(): void {
    void hangUp(this)
  }

  onDue(): void {
    this.dueAtMs = dueIn(KEEP_ALIVE_MS)
    if (this.isIdle) send(this, this.answer.client.framing.keepAlive)
    this.isIdle = true
  }

  /** Closes it for good; false where something else already has. */
  close(): boolean {
    if (!this.isOpen) return false
    this.isOpen = false
    unwatch(this)
    this.unregister()
    return true
  }
}

/** Writes what was read before the client was answered. */
async function begin(relay: Relay): Promise<void> {
  for (let batch = relay.early[0]; batch && relay.isOpen; batch = relay.early[0]) {
    const read = await batch
    if (!relay.isOpen) return
    relay.early.shift()
    await take(relay, read)
  }
}

/** Tells the client what a batch says; takes time only where something has to be counted, or is at its end. */
function take(relay: Relay, batch: StreamBatch): Promise<void> | undefined {
  if (!relay.isOpen) return undefined
  if (batch.kind === 'failed') return failUpstream(relay, batch.failure)
  const { charge } = relay.answer
  if (batch.kind === 'done' && lacksCount(charge)) return countNow(charge).then(() => write(relay, batch))
  return write(relay, batch)
}

function write(relay: Relay, batch: Exclude<StreamBatch, { kind: 'failed' }>): Promise<void> | undefined {
  if (!relay.isOpen) return undefined
  const written = relay.writer.writeBatch(batch)
  const { text } = written
  noteFirstToken(relay)
  if (written.state === 'failed') return failUpstream(relay, written.failure, text)
  if (written.state === 'complete') return complete(relay, text)
  if (written.state === 'uncounted') return judge(relay, text, written.rest)
  if (relay.answer.charge.meter.isRunaway()) return failUpstream(relay, RUNAWAY, text)
  const wire = batch.kind === 'items' ? batch.wire : undefined
  send(relay, text, wire?.text === text ? wire.bytes : undefined)
  return undefined
}

/** Counts the answer, which is at its end or may be beyond its limit; `rest` goes on where it may go on. */
async function judge(relay: Relay, text: string, rest: StreamBatch): Promise<void> {
  const { charge } = relay.answer
  relay.early.unshift(Promise.resolve(rest))
  const counted = await countNow(charge)
  if (!relay.isOpen) return
  if (charge.meter.isSuspect()) {
    const limit = beyondLimit(charge.hold.size.bounds.outputTokens)
    if (counted !== undefined && counted > limit) return cut(relay, text)
    charge.meter.noteCount(counted, limit)
  }
  relay.early.shift()
  send(relay, text)
  return take(relay, rest)
}

/** Stops the provider in the middle of an answer that is beyond its limit: the client gets an end, as of one that kept to it. */
async function cut(relay: Relay, text: string): Promise<void> {
  if (!relay.close()) return
  const { answer, source, writer } = relay
  source.abort()
  const { requestId } = answer.client
  answer.deps.logger.warn('answer_cut', {
    requestId,
    provider: answer.provider.name,
    counted: answer.charge.counted?.tokens,
  })
  const charge = await completeAnswer(answer, 'cut')
  assert(charge.kind === 'charge', 'an answer that is cut has output')
  send(relay, (await kept(relay, text + writer.cut(charge.usage), 'cut')) + epilogueOf(relay, charge))
  relay.client?.end()
}

/** The provider has said its last word. */
async function complete(relay: Relay, text: string): Promise<void> {
  if (!relay.close()) return
  const charge = await completeAnswer(relay.answer)
  send(relay, (await kept(relay, text, 'complete')) + epilogueOf(relay, charge))
  relay.client?.end()
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
  if (relay.isOpen) relay.answer.listener?.failed(failure)
  return fail(relay, toGatewayError(failure, relay.answer.provider), textBefore)
}

async function fail(relay: Relay, error: GatewayError, textBefore = ''): Promise<void> {
  if (!relay.close()) return
  const { answer, source } = relay
  source.abort()
  const reason = error.options.cause ?? error.message
  answer.charge.line.fault = error
  answer.deps.logger.warn('stream_failed', { requestId: answer.client.requestId, reason })
  send(relay, textBefore + relay.writer.fail(error))
  relay.client?.end()
  await endAnswer(answer, 'broken')
}

async function hangUp(relay: Relay): Promise<void> {
  if (!relay.close()) return
  const { answer, source } = relay
  const { deps, provider, client, charge } = answer
  const { meter } = charge
  const policy = drainPolicy(answer, source)
  const giveBack = policy && deps.drains.take(provider.name, client.payer.accountId, policy.maxConcurrent)
  if (policy && giveBack) {
    const unregister = deps.streams.add(() => source.abort())
    await drainUpstream(source, relay.early, meter, policy)
    unregister()
    giveBack()
  }
  if (meter.hasEnded()) void letUpstreamClose(source)
  else source.abort()
  await endAnswer(answer, source.hasSent() ? 'disconnected' : 'unanswered')
}

/** Sends `text`, or the bytes that it was read from. */
function send(relay: Relay, text: string, bytes?: Uint8Array): void {
  if (text === '') return
  relay.isIdle = false
  relay.client?.send(bytes ?? encoder.encode(text))
}

function noteFirstToken(relay: Relay): void {
  const { meter } = relay.answer.charge
  if (meter.firstTokenMs() === null && meter.hasOutput()) meter.noteDelivery(sinceArrival(relay))
}

function sinceArrival({ answer }: Relay): number {
  return Math.round(answer.deps.clock.monotonic() - answer.charge.arrivedMonotonicMs)
}
