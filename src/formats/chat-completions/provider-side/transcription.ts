/** Transcriptions at chat-completions providers: sends the form, and reads seconds or tokens from any form of answer. */
import type { TranscriptionRequest } from '@/chat/audio'
import type { UnitCount } from '@/chat/units'
import { readCount, type Usage, ZERO_USAGE } from '@/chat/usage'
import { fieldsLeftOut } from '@/formats/chat-completions/media-fields'
import type { MediaAnswer, MediaCall, MediaPiece, MediaReader, MediaTraits } from '@/formats/media-call'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { decodeError } from './decode-error'
import { EventTap } from './event-tap'

/** A text answer states no usage, so JSON is requested, and the text taken from it. Subtitles stay: their times are not in JSON. */
const TEXT = 'text'
const OWN_FIELDS: ReadonlySet<string> = new Set(['model', 'svc', 'fallback', 'response_format'])
const JSON_FORMATS: ReadonlySet<string> = new Set(['json', 'verbose_json', 'diarized_json'])
/** Longer durations are invalid: no file within the size limit lasts so long. */
const MAX_SECONDS = 1_000_000
const CUE_END = /--> *(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{3})/g

const decoder = new TextDecoder()

/** The call for `request`. */
export function transcriptionCall(request: TranscriptionRequest): MediaCall {
  return {
    encode(traits) {
      const leftOut = fieldsLeftOut(request.unlisted, traits)
      return { path: `audio/${request.task}`, body: formOf(request, traits, leftOut), leftOut }
    },
    decode: (bytes, contentType, traits) => decodeAnswer(request, bytes, contentType, traits),
    read: (contentType, traits) =>
      contentType.includes('text/event-stream') ? new TranscriptEvents(request, traits) : undefined,
  }
}

function formOf(request: TranscriptionRequest, traits: MediaTraits, leftOut: readonly string[]): FormData {
  const { file, fields, answerFormat } = request
  const form = new FormData()
  form.append('file', file, file.name || 'sound')
  form.append('model', traits.model)
  form.append('response_format', answerFormat === TEXT ? 'json' : answerFormat)
  for (const [name, value] of fields) {
    const field = name.split('[', 1)[0] ?? name
    if (!OWN_FIELDS.has(field) && !leftOut.includes(field)) form.append(name, value)
  }
  return form
}

function decodeAnswer(
  request: TranscriptionRequest,
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
  traits: MediaTraits,
): MediaAnswer | undefined {
  const { answerFormat } = request
  const text = decoder.decode(bytes)
  if (answerFormat !== TEXT && !JSON_FORMATS.has(answerFormat)) {
    if (contentType.includes('json')) return undefined
    return { body: bytes, contentType, usage: usageOf(request, traits, {}, lastCue(text)) }
  }
  const json = parseJson(text)
  if (!isJsonObject(json) || typeof json.text !== 'string') return undefined
  const usage = usageOf(request, traits, json)
  if (answerFormat !== TEXT) return { body: bytes, contentType, usage }
  return { body: `${json.text}\n`, contentType: 'text/plain; charset=utf-8', usage }
}

/** The time at which the last subtitle ends. */
function lastCue(text: string): number | undefined {
  const [, hours = '0', minutes, seconds, thousandths] = [...text.matchAll(CUE_END)].at(-1) ?? []
  if (minutes === undefined) return undefined
  return Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds) + Number(thousandths) / 1_000
}

/** The usage in the unit of the model's price; null if the provider states none and the sound's length is unknown. */
function usageOf(
  { seconds: known }: TranscriptionRequest,
  traits: MediaTraits,
  { usage, duration }: JsonObject,
  heard?: number,
): Usage | null {
  const stated = isJsonObject(usage) ? usage : {}
  if (!traits.sells('second')) return tokensOf(stated)
  const seconds = lengthIn(stated.seconds) ?? lengthIn(duration) ?? known ?? heard
  if (seconds === undefined) return null
  return { ...ZERO_USAGE, units: [{ billable: 'input_audio', unit: 'second', count: Math.ceil(seconds) }] }
}

/** A duration in seconds, which some servers write as text. */
function lengthIn(value: JsonValue | undefined): number | undefined {
  const seconds = typeof value === 'string' ? Number(value) : value
  return typeof seconds === 'number' && seconds > 0 && seconds < MAX_SECONDS ? seconds : undefined
}

function tokensOf(usage: JsonObject): Usage | null {
  const [input, output] = [readCount(usage.input_tokens), readCount(usage.output_tokens)]
  if (input === undefined || output === undefined) return null
  const details = isJsonObject(usage.input_token_details) ? usage.input_token_details : {}
  const count = Math.min(readCount(details.audio_tokens) ?? 0, input)
  const units: UnitCount[] = count > 0 ? [{ billable: 'input_audio', unit: 'token', count }] : []
  return { ...ZERO_USAGE, uncached: input, output, ...(units.length > 0 && { units }) }
}

/** Passes events on unchanged, and reads the usage in the last one. */
class TranscriptEvents implements MediaReader {
  readonly isEvents = true
  readonly contentType = 'text/event-stream; charset=utf-8'
  private readonly tap = new EventTap()
  private isDone = false

  constructor(
    private readonly request: TranscriptionRequest,
    private readonly traits: MediaTraits,
  ) {}

  push(bytes: Uint8Array): MediaPiece {
    return this.pieceOf(bytes, this.tap.push(bytes))
  }

  end() {
    return { ...this.pieceOf(NONE, this.tap.end()), isWhole: this.isDone }
  }

  private pieceOf(bytes: Uint8Array, events: readonly JsonObject[]): MediaPiece {
    const piece: MediaPiece = { bytes }
    for (const json of events) {
      if (json.type === 'error' || isJsonObject(json.error)) piece.error = decodeError(undefined, json)
      if (json.type !== 'transcript.text.done') continue
      this.isDone = true
      const usage = usageOf(this.request, this.traits, json)
      if (usage) piece.usage = usage
    }
    return piece
  }
}

const NONE = new Uint8Array()
