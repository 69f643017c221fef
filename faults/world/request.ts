/** What a client of the suite may wish for, and the request as each of the four formats writes it. */
import type { Customer } from './bank'
import { modelId } from './catalog-file'

export const CLIENT_FORMATS = ['chat-completions', 'messages', 'generate-content', 'responses'] as const
export type ClientFormat = (typeof CLIENT_FORMATS)[number]

/** Must appear nowhere but in the calls to the provider. */
export const PROMPT_CANARY = 'prompt-canary-c41d77e0b2'

export type Wish = {
  customer: Customer
  /** The name of a model of the suite's catalogue. */
  model?: string
  format?: ClientFormat
  stream?: boolean
  words?: number
  pauseMs?: number
  marker?: string
  /** Sent as the header of that name. */
  idempotencyKey?: string
  maxTokens?: number
  /** Hang up after so many words. */
  hangUpAfterWords?: number
  timeoutMs?: number
}

/** More than any vocabulary makes of a word of the scripted provider, which bills one. */
const TOKENS_PER_WORD = 12

/** The request as its format writes it. */
export function requestOf(wish: Wish): { path: string; headers: Record<string, string>; body: unknown } {
  const { customer, model = 'steady', format = 'chat-completions', stream = false, marker = '' } = wish
  const { words = 5, pauseMs = 0, maxTokens = TOKENS_PER_WORD * words + 50 } = wish
  const prompt = `Request ${marker} with words=${words} pause=${pauseMs}, please. ${PROMPT_CANARY}`
  const messages = [{ role: 'user', content: prompt }]
  switch (format) {
    case 'chat-completions':
      return {
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${customer.key}` },
        body: { model: modelId(model), stream, max_tokens: maxTokens, messages },
      }
    case 'messages':
      return {
        path: '/v1/messages',
        headers: { 'x-api-key': customer.key },
        body: { model: modelId(model), stream, max_tokens: maxTokens, messages },
      }
    case 'generate-content':
      return {
        path: `/v1beta/models/${modelId(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        headers: { 'x-goog-api-key': customer.key },
        body: {
          contents: [{ role: 'user', parts: [{ text: prompt }] }],
          generationConfig: { maxOutputTokens: maxTokens },
        },
      }
    case 'responses':
      return {
        path: '/v1/responses',
        headers: { authorization: `Bearer ${customer.key}` },
        // What is stored would hold the canary.
        body: { model: modelId(model), stream, store: false, max_output_tokens: maxTokens, input: messages },
      }
  }
}
