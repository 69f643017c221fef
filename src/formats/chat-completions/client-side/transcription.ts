/** Transcriptions for chat-completions clients: decodes the forms of `/v1/audio/transcriptions` and `/v1/audio/translations`. */
import { Type } from '@sinclair/typebox'
import type { TranscriptionRequest } from '@/chat/audio'
import { invalidRequest } from '@/chat/error'
import type { UnitCount } from '@/chat/units'
import { LIMITS } from '@/formats/chat-completions/limits'
import { leftFields, refuseFallback } from '@/formats/chat-completions/media-fields'
import type { MediaRequest } from '@/formats/media-call'
import { preferencesSchema, readPreferences } from '@/formats/preferences'
import { createRequestCheck } from '@/formats/schema-check'
import type { JsonObject } from '@/lib/json'
import { oneOf, optional } from '@/lib/schemas'

const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const
/** Tokens that a provider counts for a second of sound: the maximum and the usual number. */
const MOST_TOKENS_PER_SECOND = 32
const USUAL_TOKENS_PER_SECOND = 10
/** Samples of speakers' voices are at most this long. */
const SAMPLE_SECONDS = 10
const MAX_SAMPLES = 4

const Numeral = Type.String({ pattern: '^(?:0(?:\\.\\d{1,6})?|1(?:\\.0{1,6})?)$', description: 'A number from 0 to 1' })
const COMMON = {
  model: Type.String({ ...LIMITS.modelChars, examples: ['svc/alpha-transcribe'] }),
  prompt: optional(Type.String({ description: 'Words in the style of the sound, or its previous part' })),
  temperature: optional(Numeral),
  svc: optional(preferencesSchema()),
}
const SoundFile = Type.Unsafe<unknown>({
  type: 'string',
  format: 'binary',
  description: 'The sound, at most 25 MB: mp3, mp4, mpeg, mpga, m4a, wav, webm, flac or ogg',
})
const TRANSCRIPTION = {
  ...COMMON,
  language: optional(Type.String({ minLength: 2, maxLength: 16, description: 'ISO-639-1, such as `de`' })),
  response_format: optional(oneOf(FORMATS)),
  stream: optional(oneOf(['true', 'false'], { description: '`true`: events; models that cannot stream ignore it' })),
  timestamp_granularities: optional(Type.Array(oneOf(['word', 'segment']), { maxItems: 2 })),
  include: optional(Type.Array(Type.String(), { maxItems: 8 })),
  chunking_strategy: optional(Type.Unknown({ description: '`auto`, or an object' })),
  known_speaker_names: optional(Type.Array(Type.String(), { maxItems: MAX_SAMPLES })),
  known_speaker_references: optional(Type.Array(Type.String(), { maxItems: MAX_SAMPLES })),
}
const TRANSLATION = { ...COMMON, response_format: optional(oneOf(FORMATS.filter((name) => name !== 'diarized_json'))) }

const TranscriptionFields = Type.Object(TRANSCRIPTION)
const TranslationFields = Type.Object(TRANSLATION)

/** The forms, for the documentation. */
export const TranscriptionBody = Type.Object({ file: SoundFile, ...TRANSCRIPTION }, { title: 'TranscriptionRequest' })
export const TranslationBody = Type.Object({ file: SoundFile, ...TRANSLATION }, { title: 'TranslationRequest' })

const checkTranscription = createRequestCheck(TranscriptionFields)
const checkTranslation = createRequestCheck(TranslationFields)

/** A sound's seconds: `known` from its header, if that can be read; `most` and `likely` estimated from its bytes. */
type SoundLength = { known?: number; most: number; likely: number }

type Form = { json: JsonObject; file: File; length: SoundLength }

/** Throws a GatewayError `invalid_request` that names the field. */
export function decodeTranscription(form: Form): MediaRequest {
  const fields = checkTranscription(form.json)
  const samples = fields.known_speaker_references?.length ?? 0
  const request = { ...requestOf('transcriptions', form, TranscriptionFields), stream: fields.stream === 'true' }
  return mediaRequest(request, fields, withSamples(form.length, samples))
}

/** Throws a GatewayError `invalid_request` that names the field. */
export function decodeTranslation(form: Form): MediaRequest {
  const fields = checkTranslation(form.json)
  return mediaRequest(requestOf('translations', form, TranslationFields), fields, form.length)
}

function withSamples({ known, most, likely }: SoundLength, samples: number): SoundLength {
  const more = samples * SAMPLE_SECONDS
  return { ...(known !== undefined && { known: known + more }), most: most + more, likely: likely + more }
}

function requestOf(
  task: TranscriptionRequest['task'],
  { json, file, length }: Form,
  { properties }: { properties: object },
): TranscriptionRequest {
  refuseFallback(json)
  const listed = new Set(Object.keys(properties))
  return {
    task,
    file,
    fields: Object.entries(json).flatMap(([name, value]) => formFields(name, value)),
    answerFormat: typeof json.response_format === 'string' ? json.response_format : 'json',
    stream: false,
    seconds: length.known,
    unlisted: leftFields(json, listed),
  }
}

/** The form entries for one field; a list has one entry for each item. */
function formFields(name: string, value: unknown): [string, string][] {
  if (typeof value === 'string') return [[name, value]]
  if (Array.isArray(value)) return value.flatMap((item) => formFields(`${name}[]`, item))
  if (typeof value !== 'object' || value === null) return [[name, String(value)]]
  return Object.entries(value).flatMap(([inner, item]) => formFields(`${name}[${inner}]`, item))
}

type Read = { model: string; prompt?: string | null; svc?: unknown }

function mediaRequest(request: TranscriptionRequest, { model, prompt, svc }: Read, length: SoundLength): MediaRequest {
  const most = length.known ?? length.most
  const likely = length.known ?? length.likely
  const secondsAnd = (seconds: number, tokens: number): UnitCount[] => [
    { billable: 'input_audio', unit: 'second', count: seconds },
    { billable: 'input_audio', unit: 'token', count: seconds * tokens },
  ]
  return {
    model,
    stream: request.stream,
    ...readPreferences(svc),
    texts: prompt ? [prompt] : [],
    inputTokens: { most: most * MOST_TOKENS_PER_SECOND, likely: likely * USUAL_TOKENS_PER_SECOND },
    most: secondsAnd(most, MOST_TOKENS_PER_SECOND),
    likely: secondsAnd(likely, USUAL_TOKENS_PER_SECOND),
    callFor: (provider) => provider.media?.transcription?.(request),
  }
}

/** The file of a form. Throws `invalid_request` if there is none, or more than one. */
export function soundOf(files: ReadonlyMap<string, readonly File[]> = new Map()): File {
  const other = [...files.keys()].find((name) => name !== 'file')
  if (other !== undefined) throw invalidRequest(`${other.slice(0, 64)} must not be a file`, other)
  const [file, ...more] = files.get('file') ?? []
  if (!file) throw invalidRequest('file is required', 'file')
  if (more.length > 0) throw invalidRequest('file: send one file at a time', 'file')
  return file
}
