/** Relays a provider's bytes or events as they arrive, at the client's pace, and settles the answer at its end. */
import type { Provider } from '@/catalog/types'
import { type GatewayError, restarting } from '@/chat/error'
import type { MediaPiece } from '@/formats/media-call'
import type { OpenCharge } from '@/gateway/charge/open-charge'
import { streamHeaders } from '@/gateway/relay/headers'
import type { Charge, Ending } from '@/ledger/charge'
import type { PipeEnd } from '@/lib/streams/pipe'
import { formatSse } from '@/lib/streams/sse'
import type { UpstreamSink } from '@/upstream/answer'
import { toGatewayError, type UpstreamFailure } from '@/upstream/failure'
import type { StartedMedia } from './media-attempts'
import type { MediaDeps, MediaRequestCall } from './media-call'

type Relaying = {
  deps: MediaDeps
  call: MediaRequestCall
  open: OpenCharge
  started: Extract<StartedMedia, { kind: 'stream' }>
  headers: Record<string, string>
  provider: Provider
  /** Frees the answer's slot and settles it. */
  end(ending: Ending): Promise<Charge>
}

const encoder = new TextEncoder()

/** Answers with a stream, which owns the answer's hold from now on. */
export function relayMedia(relaying: Relaying): Response {
  const { call, started, headers } = relaying
  const relay = new MediaRelay(relaying)
  Object.assign(headers, streamHeaders(started.reader))
  if (call.signal.aborted) {
    // The client has already disconnected, so nobody will read or cancel the body.
    relay.cancel()
    return new Response(null, { headers })
  }
  return new Response(started.source.pipeThrough(relay), { headers })
}

class MediaRelay implements UpstreamSink {
  private client: PipeEnd | undefined
  private isOpen = true
  private readonly unregister: () => void

  constructor(private readonly relaying: Relaying) {
    const { deps, open, started } = relaying
    this.unregister = deps.streams.add(() => this.fail(restarting()))
    started.source.outliveClient()
    started.source.onOvertime((failure) => void this.failUpstream(failure))
    open.hold.handOver()
  }

  start(end: PipeEnd): Promise<void> | undefined {
    this.client = end
    return this.send(this.relaying.started.first)
  }

  transform(bytes: Uint8Array): Promise<void> | undefined {
    return this.isOpen ? this.send(this.relaying.started.reader.push(bytes)) : undefined
  }

  async flush(failure: UpstreamFailure | undefined): Promise<void> {
    if (!this.isOpen) return
    if (failure) return this.failUpstream(failure)
    const rest = this.relaying.started.reader.end()
    await this.send(rest)
    if (!rest.isWhole) return this.failUpstream(CUT_SHORT)
    if (!this.close()) return
    await this.relaying.end('complete')
    this.client?.end()
  }

  cancel(): void {
    void this.hangUp()
  }

  /** Sends a piece to the client. Settles before it sends the last one. */
  private send(piece: MediaPiece): Promise<void> | undefined {
    this.observe(piece)
    if (piece.error) return this.failUpstream({ kind: 'refused', error: piece.error })
    if (piece.bytes.length > 0) this.client?.send(piece.bytes)
    return undefined
  }

  private observe({ usage, bytes }: MediaPiece): void {
    const { deps, open, started } = this.relaying
    if (bytes.length > 0) open.meter.noteDelivery(Math.round(deps.clock.monotonic() - open.arrivedMonotonicMs))
    if (!usage) return
    if (started.reader.isFreeUntilUsage) open.meter.noteOutput()
    open.meter.observe({ type: 'usage', usage })
  }

  private failUpstream(failure: UpstreamFailure): Promise<void> {
    const { call, started, provider, open } = this.relaying
    // If the client disconnected, we ended the call ourselves: the provider did not fail.
    if (call.signal.aborted) return this.hangUp()
    const isOwn = open.facts.providerFormat === open.facts.clientFormat
    return this.fail(toGatewayError(started.source.named(failure), provider, isOwn))
  }

  private async fail(error: GatewayError): Promise<void> {
    if (!this.close()) return
    const { deps, call, open, started } = this.relaying
    started.source.abort()
    open.line.fault = error
    deps.logger.warn('stream_failed', { requestId: call.requestId, reason: error.options.cause ?? error.message })
    if (started.reader.isEvents) {
      const data = JSON.stringify(call.format.encodeError(error, call.requestId).body)
      this.client?.send(encoder.encode(formatSse({ event: 'error', data })))
      this.client?.end()
    } else this.client?.fail(error)
    if (!started.reader.isFreeUntilUsage) this.observeLikely()
    await this.relaying.end('broken')
  }

  private async hangUp(): Promise<void> {
    if (!this.close()) return
    const { started } = this.relaying
    await this.readOn()
    started.source.abort()
    this.observeLikely()
    await this.relaying.end('disconnected')
  }

  /** If the usage is not known yet, reads the remaining answer for it, within the provider's limits. */
  private async readOn(): Promise<void> {
    const { deps, call, open, provider, started } = this.relaying
    const { source, reader } = started
    const { onDisconnect } = provider
    if (open.meter.reading().usage || onDisconnect.kind === 'abort') return
    const giveBack = deps.drains.take(provider.name, call.payer.accountId, onDisconnect.maxConcurrent)
    if (!giveBack) return
    const unregister = deps.streams.add(() => source.abort())
    const timer = setTimeout(() => source.abort(), onDisconnect.maxMs)
    for (let chunk = await source.read(); chunk.kind !== 'failed'; chunk = await source.read()) {
      this.observe(chunk.kind === 'bytes' ? reader.push(chunk.bytes) : reader.end())
      if (chunk.kind === 'done') break
    }
    clearTimeout(timer)
    unregister()
    giveBack()
  }

  /** Records the likely usage if the provider reported none, because the relayed bytes must be paid. */
  private observeLikely(): void {
    const { open, started } = this.relaying
    if (open.meter.reading().usage || !started.reader.likelyUsage) return
    open.meter.observe({ type: 'usage', usage: started.reader.likelyUsage() })
    open.meter.noteOutput()
  }

  private close(): boolean {
    if (!this.isOpen) return false
    this.isOpen = false
    this.unregister()
    return true
  }
}

const CUT_SHORT: UpstreamFailure = { kind: 'broken', detail: 'stream ended without its terminator' }
