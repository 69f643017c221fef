import type { AnswerReading } from '@/dialects/dialect'
import { parseAsWritten } from '@/lib/json-source/as-written'
import type { UpstreamAnswer } from './answer'
import type { UpstreamFailure } from './failure'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** An answer whose bytes are translated from the provider's dialect to its format. Everything else is the original answer's. */
export class TranslatedAnswer implements UpstreamAnswer {
  readonly kind = 'answer'
  readonly contentType: string
  readonly isEventStream: boolean
  private hasEnded = false

  constructor(
    private readonly answer: UpstreamAnswer,
    private readonly reading: AnswerReading,
  ) {
    this.isEventStream = reading.kind === 'stream'
    this.contentType = this.isEventStream ? 'text/event-stream' : 'application/json'
  }

  async read(): ReturnType<UpstreamAnswer['read']> {
    for (;;) {
      const chunk = await this.answer.read()
      if (chunk.kind === 'failed' || this.hasEnded) return chunk
      const text = chunk.kind === 'bytes' ? this.push(chunk.bytes) : this.end()
      if (text !== '') return { kind: 'bytes', bytes: encoder.encode(text) }
      if (chunk.kind === 'done') return chunk
    }
  }

  pipeThrough(sink: Parameters<UpstreamAnswer['pipeThrough']>[0]): ReadableStream<Uint8Array> {
    const pass = (text: string) => (text === '' ? undefined : sink.transform(encoder.encode(text)))
    return this.answer.pipeThrough({
      start: (end) => sink.start(end),
      cancel: () => sink.cancel(),
      transform: (bytes) => pass(this.push(bytes)),
      flush: (failure) => {
        const busy = failure ? undefined : pass(this.end())
        return busy ? busy.then(() => sink.flush(failure)) : sink.flush(failure)
      },
    })
  }

  async readAll(maxBytes: number): ReturnType<UpstreamAnswer['readAll']> {
    const body = await this.answer.readAll(maxBytes)
    if (body.kind === 'failed' || this.reading.kind === 'stream') return body
    // Keeps the digits of numbers, since most are only passed on.
    const json = parseAsWritten(decoder.decode(body.bytes))
    const translated = json === undefined ? undefined : this.reading.read(json)
    if (translated) return { kind: 'body', bytes: encoder.encode(JSON.stringify(translated)) }
    return { kind: 'failed', failure: { kind: 'malformed', detail: 'answer is not of the provider dialect' } }
  }

  hasSent(): boolean {
    return this.answer.hasSent()
  }

  named(failure: UpstreamFailure): UpstreamFailure {
    return this.answer.named(failure)
  }

  outliveClient(): void {
    this.answer.outliveClient()
  }

  onOvertime(listener: Parameters<UpstreamAnswer['onOvertime']>[0]): void {
    this.answer.onOvertime(listener)
  }

  abort(): void {
    this.answer.abort()
  }

  private push(bytes: Uint8Array): string {
    return this.reading.kind === 'stream' ? this.reading.push(bytes) : ''
  }

  private end(): string {
    this.hasEnded = true
    return this.reading.kind === 'stream' ? this.reading.end() : ''
  }
}
