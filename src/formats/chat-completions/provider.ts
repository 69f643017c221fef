/** The paths of chat-completions providers, and the quirks that the catalogue can set for encoder and pass-through. */
import { CACHE_CONTROL } from '@/formats/body-fields'
import type { Endpoint } from '@/formats/format'
import { CACHE_KEY_QUIRK } from '@/formats/openai'

/** What the chat-completions encoder and pass-through can do differently for a provider; the catalogue names them. */
export const QUIRKS = {
  /** Keep callers' cached prompts apart by a `prompt_cache_key` of their account where they name none. */
  accountCacheKey: CACHE_KEY_QUIRK,
  /** Limit the output by `max_tokens`, for services that don't know `max_completion_tokens`. */
  maxTokens: 'max_tokens',
  /** No system messages after the conversation has begun: they become user text in `<system>` tags. */
  noMidSystem: 'no-mid-system',
  /** Leave `reasoning_effort` out. */
  noReasoningEffort: 'no-reasoning-effort',
  /** Send the reasoning of earlier turns back as `reasoning_content`. */
  reasoningContent: 'reasoning-content',
  /** Likewise as `reasoning`. */
  reasoningField: 'reasoning-field',
  /** A call that must be made is asked for by `any`; one tool by offering no other. */
  toolChoiceAny: 'tool-choice-any',
  /** Carry Gemini's thought signatures in `tool_calls[].extra_content`. */
  googleExtraContent: 'google-extra-content',
  /** Restrict the tools themselves where the choice is limited to some, instead of sending `allowed_tools`. */
  noAllowedTools: 'no-allowed-tools',
  /** Leave temperature, top_p and penalties out, which reasoning models refuse. */
  noSampling: 'no-sampling',
  /** Send text-only messages as one string, never as parts. */
  stringContent: 'string-content',
  /** `cache_control` on parts, tools and the request is understood; elsewhere it is left out, since it would be refused. */
  cacheControl: CACHE_CONTROL,
  /** Leave `stream_options` out; the usage of streams is then counted unless the provider sends it unasked. */
  noStreamOptions: 'no-stream-options',
  /** Vectors are written as lists of numbers, for services that don't know `encoding_format: base64`. */
  noBase64Embeddings: 'no-base64-embeddings',
} as const

/** Where chat-completions providers are called, and with which credential. */
export const endpoint: Endpoint = {
  url: ({ baseUrl }) => `${baseUrl}/chat/completions`,
  embeddingsUrl: ({ baseUrl }) => `${baseUrl}/embeddings`,
  credential: { header: 'authorization', prefix: 'Bearer ' },
  headers: {},
  hasServiceTiers: true,
  sandboxPath: '/v1',
}
