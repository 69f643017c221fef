/** URLs of chat-completions providers, and the quirks that a catalogue entry can set. */
import { CACHE_CONTROL } from '@/formats/body-fields'
import type { Endpoint } from '@/formats/format'
import { CACHE_KEY_QUIRK, MODEL_LIST } from '@/formats/openai'

/** Deviations that encoder and pass-through support; catalogue entries name them. */
export const QUIRKS = {
  /** If the caller sets no `prompt_cache_key`, send one per account, so that accounts share no cached prompts. */
  accountCacheKey: CACHE_KEY_QUIRK,
  /** Send the output limit as `max_tokens`, for services that don't know `max_completion_tokens`. */
  maxTokens: 'max_tokens',
  /** No system messages after the conversation has begun: they become user text in `<system>` tags. */
  noMidSystem: 'no-mid-system',
  noReasoningEffort: 'no-reasoning-effort',
  /** Send reasoning of earlier turns back as `reasoning_content`. */
  reasoningContent: 'reasoning-content',
  /** Send reasoning of earlier turns back as `reasoning`. */
  reasoningField: 'reasoning-field',
  /** Send the tool choice `any` to require a call. To require one tool, send only that tool. */
  toolChoiceAny: 'tool-choice-any',
  /** Send Gemini's thought signatures in `tool_calls[].extra_content`. */
  googleExtraContent: 'google-extra-content',
  /** If the choice is limited to some tools, send only these instead of `allowed_tools`. */
  noAllowedTools: 'no-allowed-tools',
  /** Omit temperature, top_p and penalties, which reasoning models refuse. */
  noSampling: 'no-sampling',
  /** Send text-only messages as a string, never as parts. */
  stringContent: 'string-content',
  /** `cache_control` is supported on parts, tools and the request. Without this quirk it is omitted, since it would be refused. */
  cacheControl: CACHE_CONTROL,
  /** Omit `stream_options`. The gateway counts a stream's tokens if the provider sends no usage. */
  noStreamOptions: 'no-stream-options',
  /** Request vectors as lists of numbers, for services without `encoding_format: base64`. */
  noBase64Embeddings: 'no-base64-embeddings',
} as const

/** URLs and credential of chat-completions providers. */
export const endpoint: Endpoint = {
  url: ({ baseUrl }) => `${baseUrl}/chat/completions`,
  embeddingsUrl: ({ baseUrl }) => `${baseUrl}/embeddings`,
  mediaUrl: ({ baseUrl }, path) => `${baseUrl}/${path}`,
  credential: { header: 'authorization', prefix: 'Bearer ' },
  headers: {},
  modelList: MODEL_LIST,
  hasServiceTiers: true,
  sandboxPath: '/v1',
}
