/** Speech for chat-completions clients: decodes `POST /v1/audio/speech`. */
import { Type } from '@sinclair/typebox'
import type { SpeechRequest } from '@/chat/audio'
import { LIMITS } from '@/formats/chat-completions/limits'
import { leftFields, refuseFallback } from '@/formats/chat-completions/media-fields'
import type { MediaRequest } from '@/formats/media-call'
import { preferencesSchema, readPreferences } from '@/formats/preferences'
import { createRequestCheck } from '@/formats/schema-check'
import type { JsonObject } from '@/lib/json'
import { oneOf, optional } from '@/lib/schemas'

const DEFAULT_FORMAT = 'mp3'

export const SpeechBody = Type.Object(
  {
    model: Type.String({ ...LIMITS.modelChars, examples: ['svc/alpha-speech'] }),
    input: Type.String({
      minLength: 1,
      description: 'The text to speak; at most the model’s `context_length` characters',
    }),
    voice: Type.Union([Type.String({ minLength: 1 }), Type.Object({ id: Type.String({ minLength: 1 }) })], {
      description: 'One of the provider’s voices',
    }),
    instructions: optional(Type.String({ description: 'How to speak' })),
    response_format: optional(oneOf(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'])),
    speed: optional(Type.Number({ minimum: 0.25, maximum: 4 })),
    stream_format: optional(
      oneOf(['audio', 'sse'], { description: '`sse`: events with pieces of the sound in base64' }),
    ),
    svc: optional(preferencesSchema()),
  },
  { title: 'SpeechRequest', examples: [{ model: 'svc/alpha-speech', input: 'Good morning!', voice: 'alloy' }] },
)

const SPEECH_FIELDS: ReadonlySet<string> = new Set(Object.keys(SpeechBody.properties))

const check = createRequestCheck(SpeechBody)

/** Throws a GatewayError `invalid_request` that names the field and its limit. Never changes `body`. */
export function decodeSpeech(body: JsonObject): MediaRequest {
  const { model, input, instructions, response_format, stream_format, svc } = check(body)
  refuseFallback(body)
  const wantsEvents = stream_format === 'sse'
  const unlisted = leftFields(body, SPEECH_FIELDS)
  const request: SpeechRequest = { fields: body, wantsEvents, audioFormat: response_format ?? DEFAULT_FORMAT, unlisted }
  const characters = [...input].length
  return {
    model,
    stream: true,
    ...readPreferences(svc),
    texts: instructions ? [input, instructions] : [input],
    characters,
    most: [{ billable: 'input_text', unit: 'character', count: characters }],
    outputTokensAre: 'output_audio',
    isExact: true,
    callFor: (provider) => provider.media?.speech?.(request),
  }
}
