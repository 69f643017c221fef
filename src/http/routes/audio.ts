/** The endpoints for audio: speech synthesis and transcription. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { soundSeconds } from '@/catalog/media/sound-seconds'
import { invalidRequest } from '@/chat/error'
import {
  decodeSpeech,
  decodeTranscription,
  decodeTranslation,
  SpeechBody,
  soundOf,
  TranscriptionBody,
  TranslationBody,
} from '@/formats/chat-completions/index'
import type { Format } from '@/formats/format'
import type { MediaRequest } from '@/formats/media-call'
import { formatNamed } from '@/http/answer-chat'
import { answerMedia } from '@/http/answer-media'
import type { JsonBody } from '@/http/body'
import type { HttpDeps } from '@/http/deps'
import { INFERENCE_ERRORS } from '@/http/openapi/errors'
import { exampleOfKind } from '@/http/openapi/example-model'
import { operation } from '@/http/openapi/operation'
import { turnFor } from '@/lib/wait/own-turn'

const MIB = 1024 * 1024
/** Maximum bytes of a file, as at OpenAI, and of the form that contains it. */
const MAX_FILE_BYTES = 25 * MIB
const MAX_FORM_BYTES = MAX_FILE_BYTES + MIB

export function audioRoutes(deps: HttpDeps) {
  const format = formatNamed(deps, 'chat-completions')
  const speech = { format, kind: 'speech', route: '/v1/audio/speech' } as const
  const speak = ({ request }: { request: Request }) =>
    answerMedia(deps, request, { ...speech, decode: ({ json }) => decodeSpeech(json) })
  const listening = { format, kind: 'transcription', maxFormBytes: MAX_FORM_BYTES } as const
  const hear =
    (route: string, decode: Decode) =>
    ({ request }: { request: Request }) =>
      answerMedia(deps, request, { ...listening, route, decode: (body) => decodeForm(body, decode) })
  const transcribe = hear('/v1/audio/transcriptions', decodeTranscription)
  const translate = hear('/v1/audio/translations', decodeTranslation)
  const undocumented = { parse: 'none', detail: { hide: true } } as const
  return (
    new Elysia({ name: 'audio-routes' })
      .post('/v1/audio/speech', speak, { parse: 'none', detail: speechDetail(format) })
      .post('/v1/audio/transcriptions', transcribe, { parse: 'none', detail: transcriptionDetail(format) })
      .post('/v1/audio/translations', translate, { parse: 'none', detail: translationDetail(format) })
      // For clients whose path has `/v1` twice, or not at all.
      .post('/v1/v1/audio/speech', speak, undocumented)
      .post('/audio/speech', speak, undocumented)
      .post('/v1/v1/audio/transcriptions', transcribe, undocumented)
      .post('/audio/transcriptions', transcribe, undocumented)
      .post('/v1/v1/audio/translations', translate, undocumented)
      .post('/audio/translations', translate, undocumented)
  )
}

function speechDetail(format: Format) {
  const value = { model: exampleOfKind('speech'), input: 'Good morning!', voice: 'alloy' }
  return operation({
    tag: 'Inference',
    summary: 'Create speech (family 1)',
    description:
      'The sound of a text, sent as it is made. Models whose `kind` is `speech` take it. Most cost a price for each ' +
      'character of `input`, counted as Unicode code points; `x-svc-cost-usd` then states the cost before the sound. ' +
      'There is no fallback to another model.',
    formats: [format],
    requestSchema: SpeechBody,
    examples: { text: { summary: 'A sentence', value } },
    responseSchema: Type.String({ format: 'binary', description: 'The sound' }),
    responseType: 'audio/mpeg',
    eventSchema: SpeechEvent,
    errors: INFERENCE_ERRORS,
    isCacheable: false,
  })
}

const FORM = { requestType: 'multipart/form-data', isCacheable: false, errors: INFERENCE_ERRORS } as const

function formExample() {
  const value = { model: exampleOfKind('transcription'), file: '@morning.mp3', response_format: 'json' }
  return { file: { summary: 'A file', value } }
}

function transcriptionDetail(format: Format) {
  return operation({
    ...FORM,
    tag: 'Inference',
    summary: 'Transcribe speech (family 1)',
    description:
      'The text of a sound. Models whose `kind` is `transcription` take it. Most cost a price for each second, as the ' +
      'provider counts them, or else as the file states. With `stream=true` models that can stream answer in events.',
    formats: [format],
    requestSchema: TranscriptionBody,
    examples: formExample(),
    responseSchema: Transcript,
    eventSchema: TranscriptEvent,
  })
}

function translationDetail(format: Format) {
  return operation({
    ...FORM,
    tag: 'Inference',
    summary: 'Translate speech to English (family 1)',
    description: 'The English text of a sound. Charged like a transcription.',
    formats: [format],
    requestSchema: TranslationBody,
    examples: formExample(),
    responseSchema: Transcript,
  })
}

type Decode = typeof decodeTranscription

async function decodeForm({ json, files }: JsonBody, decode: Decode): Promise<MediaRequest> {
  const file = soundOf(files)
  if (file.size === 0) throw invalidRequest('file is empty', 'file')
  if (file.size > MAX_FILE_BYTES) throw invalidRequest(`file has more than ${MAX_FILE_BYTES} bytes`, 'file')
  const measuring = turnFor(file.size)
  if (measuring) await measuring
  const length = soundSeconds(Buffer.from(await file.arrayBuffer()))
  return decode({ json, file, length })
}

const SpeechEvent = Type.Object(
  {
    type: Type.String({ examples: ['speech.audio.delta', 'speech.audio.done'] }),
    audio: Type.Optional(Type.String({ description: 'base64' })),
  },
  { title: 'SpeechEvent', description: 'With `stream_format: "sse"`' },
)
const Transcript = Type.Object(
  {
    text: Type.String(),
    usage: Type.Optional(
      Type.Object({ type: Type.String({ examples: ['duration', 'tokens'] }) }, { additionalProperties: true }),
    ),
  },
  {
    title: 'Transcript',
    additionalProperties: true,
    description: 'Of `text`, `srt` and `vtt`: the plain text',
  },
)
const TranscriptEvent = Type.Object(
  { type: Type.String({ examples: ['transcript.text.delta', 'transcript.text.done'] }) },
  { title: 'TranscriptEvent', additionalProperties: true },
)
