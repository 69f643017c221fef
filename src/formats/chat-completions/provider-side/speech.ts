/** Speech at chat-completions providers: plain bytes, or events; the last event has the usage in tokens. */
import type { SpeechRequest } from '@/chat/audio'
import type { UnitCount } from '@/chat/units'
import { readCount, type Usage, ZERO_USAGE } from '@/chat/usage'
import { fieldsLeftOut, passedFields } from '@/formats/chat-completions/media-fields'
import type { MediaCall, MediaPiece, MediaReader } from '@/formats/media-call'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { decodeError } from './decode-error'
import { EventTap } from './event-tap'

const PATH = 'audio/speech'
const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['mp3', 'audio/mpeg'],
  ['opus', 'audio/opus'],
  ['aac', 'audio/aac'],
  ['flac', 'audio/flac'],
  ['wav', 'audio/wav'],
  ['pcm', 'audio/pcm'],
])
/** Formats without compression: 24,000 samples of two bytes per second. */
const PLAIN_FORMATS: ReadonlySet<string> = new Set(['wav', 'pcm'])
const PLAIN_BYTES_PER_SECOND = 48_000
/** 128 kbit/s, the usual rate of compressed speech. */
const PACKED_BYTES_PER_SECOND = 16_000
/** Derived from OpenAI's published prices per minute and per token. */
const TOKENS_PER_SECOND = 21

/** The call for `request`. A model priced by tokens is asked for events, since only events state the usage. */
export function speechCall(request: SpeechRequest): MediaCall {
  const { audioFormat, wantsEvents } = request
  return {
    encode(traits) {
      const leftOut = fieldsLeftOut(request.unlisted, traits)
      const body: JsonObject = { ...passedFields(request.fields, leftOut), model: traits.model }
      if (!traits.sells('character')) body.stream_format = 'sse'
      return { path: PATH, body, leftOut }
    },
    // An answer in JSON is an error, although its status is 200.
    decode: () => undefined,
    read(contentType, traits) {
      // A model priced by characters is charged for the request's characters; tokens in the answer don't count.
      const isByTokens = !traits.sells('character')
      if (contentType.includes('text/event-stream'))
        return wantsEvents ? new PassedEvents(isByTokens) : new SoundOfEvents(audioFormat, isByTokens)
      return contentType.includes('json') ? undefined : new PassedSound(contentType, audioFormat)
    },
  }
}

/** Passes the bytes of the sound on unchanged. */
class PassedSound implements MediaReader {
  readonly isEvents = false
  readonly contentType: string
  private relayed = 0

  constructor(
    contentType: string,
    private readonly format: string,
  ) {
    this.contentType = contentType || typeOf(format)
  }

  push(bytes: Uint8Array): MediaPiece {
    this.relayed += bytes.length
    return { bytes }
  }

  end() {
    return { bytes: NONE, isWhole: true }
  }

  likelyUsage(): Usage {
    return likelyUsage(this.relayed, this.format)
  }
}

/** Passes events on unchanged, and reads the usage in them. */
class PassedEvents implements MediaReader {
  readonly isEvents = true
  readonly contentType = 'text/event-stream; charset=utf-8'
  private readonly tap = new EventTap()
  private sound = 0
  private isDone = false

  constructor(private readonly isByTokens: boolean) {}

  push(bytes: Uint8Array): MediaPiece {
    const piece: MediaPiece = { bytes }
    for (const json of this.tap.push(bytes)) this.note(json, piece)
    return piece
  }

  end() {
    const piece: MediaPiece = { bytes: NONE }
    for (const json of this.tap.end()) this.note(json, piece)
    return { ...piece, isWhole: this.isDone }
  }

  likelyUsage(): Usage {
    return likelyUsage(this.sound, 'mp3')
  }

  private note(json: JsonObject, piece: MediaPiece): void {
    this.sound += soundIn(json)?.length ?? 0
    this.isDone ||= isDone(json)
    noteEnd(json, piece, this.isByTokens)
  }
}

/** Converts events to the bytes of their sound. */
class SoundOfEvents implements MediaReader {
  readonly isEvents = false
  readonly contentType: string
  private readonly tap = new EventTap()
  private relayed = 0
  private isDone = false

  constructor(
    private readonly format: string,
    private readonly isByTokens: boolean,
  ) {
    this.contentType = typeOf(format)
  }

  push(bytes: Uint8Array): MediaPiece {
    return this.pieceOf(this.tap.push(bytes))
  }

  end() {
    return { ...this.pieceOf(this.tap.end()), isWhole: this.isDone }
  }

  likelyUsage(): Usage {
    return likelyUsage(this.relayed, this.format)
  }

  private pieceOf(events: readonly JsonObject[]): MediaPiece {
    const sounds = events.flatMap((json) => soundIn(json) ?? [])
    const piece: MediaPiece = { bytes: sounds.length === 1 ? (sounds[0] ?? NONE) : Buffer.concat(sounds) }
    this.relayed += piece.bytes.length
    for (const json of events) {
      this.isDone ||= isDone(json)
      noteEnd(json, piece, this.isByTokens)
    }
    return piece
  }
}

const NONE = new Uint8Array()

function typeOf(format: string): string {
  return CONTENT_TYPES.get(format) ?? 'application/octet-stream'
}

function soundIn({ type, audio }: JsonObject): Uint8Array | undefined {
  return type === 'speech.audio.delta' && typeof audio === 'string' ? Buffer.from(audio, 'base64') : undefined
}

function isDone({ type }: JsonObject): boolean {
  return type === 'speech.audio.done'
}

function noteEnd(json: JsonObject, piece: MediaPiece, isByTokens: boolean): void {
  const usage = isByTokens && isDone(json) ? usageIn(json.usage) : undefined
  if (usage) piece.usage = usage
  if (json.type === 'error' || isJsonObject(json.error)) piece.error = decodeError(undefined, json)
}

function usageIn(usage: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(usage)) return undefined
  const [input, output] = [readCount(usage.input_tokens), readCount(usage.output_tokens)]
  if (input === undefined || output === undefined) return undefined
  return { ...ZERO_USAGE, uncached: input, output, units: soundTokens(output) }
}

/** All output of speech is sound. */
function soundTokens(count: number): UnitCount[] {
  return [{ billable: 'output_audio', unit: 'token', count }]
}

function likelyUsage(bytes: number, format: string): Usage {
  const perSecond = PLAIN_FORMATS.has(format) ? PLAIN_BYTES_PER_SECOND : PACKED_BYTES_PER_SECOND
  const output = Math.ceil((bytes / perSecond) * TOKENS_PER_SECOND)
  return { ...ZERO_USAGE, output, units: soundTokens(output) }
}
