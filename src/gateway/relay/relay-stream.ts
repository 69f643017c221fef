/**
 * Relays an answer to a client as a stream, from the commit point to its end, with keep-alives, interruption and disconnects. The upstream
 * flows through a TransformStream at the client's pace, so a slow client costs the memory of two reads. If nothing must be corrected, bytes
 * are passed on unchanged.
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
  held: StreamItem[]
  pending: Promise<StreamBatch> | undefined
  /** Whether the items are the provider's own events; false if made from a complete answer. */
  isRaw: boolean
}

/**
 * A relay is `open` until it ends. `complete`: the upstream's terminator came; the client gets it after the settlement. `cut`:
 * stopped far beyond its output limit; it ends like a complete one. `failed`: a fault or interruption; the client gets an error in its
 * format and no terminator. `left`: the client disconnected.
 */
type RelayState = 'open' | 'complete' | 'cut' | 'failed' | 'left'

/** Silence of the upstream after which the client gets a keep-alive. */
export const KEEP_ALIVE_MS = 15_000

const encoder = new TextEncoder()

/** Answers with a stream, which owns the answer's hold from now on. */
export function relayStream(answer: RelayedAnswer, input: StreamInput): Response {
  const { deps, client, charge } = answer
  const relay = new Relay(answer, input)
  const headers = { ...answerHeaders(deps, client.format, charge, answer), ...streamHeaders(client.framing) }
  if (client.signal.aborted) {
    // The client has already disconnected, so nobody will read or cancel the body.
    void hangUp(relay)
    return new Response(null, { headers })
  }
  return new Response(input.source.pipeThrough(relay), { headers })
}

class Relay implements BatchSink, Timed {
  /** When the client gets a keep-alive, if nothing is sent before. */
  dueAtMs = dueIn(KEEP_ALIVE_MS)
  readonly source: StreamSource
  readonly writer: StreamWriter
  /** Batches that were read but not written yet, in order. */
  readonly early: Promise<StreamBatch>[] = []
  client: PipeEnd | undefined = undefined
  state: RelayState = 'open'
  /** Whether nothing was sent since the last keep-alive was due. */
  isIdle = true
  private readonly unregister: () => void

  /** From now on, the relay owns the answer's hold. */
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
    source.onOvertime((failure) => void failUpstream(this, failure))
    // From here on, a disconnect no longer ends the upstream by itself.
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

  close(state: Exclude<RelayState, 'open'>): boolean {
    if (this.state !== 'open') return false
    this.state = state
    unwatch(this)
    this.unregister()
    return true
  }
}

/** Writes the batches read before the response began. */
async function begin(relay: Relay): Promise<void> {
  for (let batch = relay.early[0]; batch && relay.state === 'open'; batch = relay.early[0]) {
    const read = await batch
    if (relay.state !== 'open') return
    relay.early.shift()
    await take(relay, read)
  }
}

/** Writes a batch to the client. Returns a promise only if tokens must be counted first, or at the end of the stream. */
function take(relay: Relay, batch: StreamBatch): Promise<void> | undefined {
  if (relay.state !== 'open') return undefined
  if (batch.kind === 'failed') return failUpstream(relay, batch.failure)
  const { charge } = relay.answer
  if (batch.kind === 'done' && lacksCount(charge)) return countNow(charge).then(() => write(relay, batch))
  return write(relay, batch)
}

function write(relay: Relay, batch: Exclude<StreamBatch, { kind: 'failed' }>): Promise<void> | undefined {
  if (relay.state !== 'open') return undefined
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

/** Counts the tokens of an answer that has ended or may exceed its limit. If they are within the limit, goes on with `rest`. */
async function judge(relay: Relay, text: string, rest: StreamBatch): Promise<void> {
  const { charge } = relay.answer
  relay.early.unshift(Promise.resolve(rest))
  const counted = await countNow(charge)
  if (relay.state !== 'open') return
  if (charge.meter.isSuspect()) {
    const limit = beyondLimit(charge.hold.size.bounds.outputTokens)
    if (counted !== undefined && counted > limit) return cut(relay, text)
    charge.meter.noteCount(counted, limit)
  }
  relay.early.shift()
  send(relay, text)
  return take(relay, rest)
}

async function cut(relay: Relay, text: string): Promise<void> {
  if (!relay.close('cut')) return
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
  await sendLast(relay, text + writer.cut(charge.usage), charge)
}

async function complete(relay: Relay, text: string): Promise<void> {
  if (!relay.close('complete')) return
  await sendLast(relay, text, await completeAnswer(relay.answer))
  void letUpstreamClose(relay.source)
}

/** Ends the client's stream after the answer was stored, so that the next request finds it. */
async function sendLast(relay: Relay, text: string, charge: Charge): Promise<void> {
  const { keep } = relay.answer.client
  const last = keep ? await keep(text, relay.state === 'cut' ? 'cut' : 'complete') : text
  send(relay, last + epilogueOf(relay, charge))
  relay.client?.end()
}

function epilogueOf(relay: Relay, charge: Charge): string {
  const { client, context, charge: open } = relay.answer
  if (!client.epilogue) return ''
  const { requestId } = client
  const firstTokenMs = open.meter.firstTokenMs()
  return client.epilogue({ requestId, model: context.model, charge, firstTokenMs, durationMs: sinceArrival(relay) })
}

function failUpstream(relay: Relay, failure: UpstreamFailure, textBefore = ''): Promise<void> {
  const { answer, source } = relay
  if (relay.state === 'open') answer.listener?.failed(failure)
  const isOwn = answer.providerFormat === answer.client.format
  return fail(relay, toGatewayError(source.named(failure), answer.provider, isOwn), textBefore)
}

async function fail(relay: Relay, error: GatewayError, textBefore = ''): Promise<void> {
  if (!relay.close('failed')) return
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
  if (!relay.close('left')) return
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

/** Sends `text`, or the `bytes` from which it was decoded, if they are given. */
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
