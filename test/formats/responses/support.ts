/** What the tests of the responses format share: streams built event by event, and their events folded into something short to compare. */
import { fold as foldEvents } from '@test/formats/chat-completions/support'
import type { ChatEvent } from '@/chat/event'
import type { ChatRequest } from '@/chat/request'
import { type Usage, ZERO_USAGE } from '@/chat/usage'
import type { AnswerContext, TargetTraits } from '@/formats/format'
import { createStreamDecoder } from '@/formats/responses/provider-side/decode-stream'
import { type JsonObject, type JsonValue, parseJson } from '@/lib/json'

/** Decodes events given as values; a string is the raw data of its event. */
export function decodeEvents(list: readonly (JsonObject | string)[]): ChatEvent[] {
  const decoder = createStreamDecoder()
  const events = list.flatMap((event) => {
    const data = typeof event === 'string' ? event : JSON.stringify(event)
    return decoder.push({ event: undefined, data, raw: '' }, parseJson(data))
  })
  return [...events, ...decoder.end()]
}

/** The answer that the events tell, once they are found to keep the rules of ChatEvent. */
export function answerOf(list: readonly (JsonObject | string)[]): ReturnType<typeof foldEvents> {
  return foldEvents(decodeEvents(list))
}

/** An event of a stream. */
export function event(type: string, fields: JsonObject = {}): JsonObject {
  return { type: `response.${type}`, ...fields }
}

export const RESPONSE = { id: 'resp_1', object: 'response', created_at: 1_760_000_000, model: 'alpha-2026-01' }
export const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 12, cache_write_tokens: 0 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 27,
}
/** The same in classes. */
export const HUB_USAGE: Usage = { ...ZERO_USAGE, uncached: 8, cacheRead: 12, output: 7, reasoning: 3 }

/** The events with which every stream begins. */
export const BEGINNING = ['created', 'in_progress'].map((type) =>
  event(type, { response: { ...RESPONSE, status: 'in_progress', output: [], usage: null } }),
)

/** The event with which a stream ends well. */
export function completed(output: JsonValue[] = [], fields: JsonObject = {}): JsonObject {
  return event('completed', { response: { ...RESPONSE, status: 'completed', output, usage: USAGE, ...fields } })
}

/** All events of a message with one text. */
export function textItem(index: number, pieces: readonly string[], id = `msg_${index}`): JsonObject[] {
  const at = { output_index: index, item_id: id, content_index: 0 }
  const text = pieces.join('')
  const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
  const item = { id, type: 'message', role: 'assistant', status: 'in_progress', content: [] }
  const whole = { ...item, status: 'completed', content: [{ ...part, text }] }
  return [
    event('output_item.added', { output_index: index, item }),
    event('content_part.added', { ...at, part }),
    ...pieces.map((delta) => event('output_text.delta', { ...at, delta, logprobs: [] })),
    event('output_text.done', { ...at, text, logprobs: [] }),
    event('content_part.done', { ...at, part: { ...part, text } }),
    event('output_item.done', { output_index: index, item: whole }),
  ]
}

/** All events of a call. */
export function callItem(index: number, name: string, pieces: readonly string[], id = `fc_${index}`): JsonObject[] {
  const at = { output_index: index, item_id: id }
  const item = { id, type: 'function_call', call_id: `call_${index}`, name, arguments: '', status: 'in_progress' }
  const whole = { ...item, arguments: pieces.join(''), status: 'completed' }
  return [
    event('output_item.added', { output_index: index, item }),
    ...pieces.map((delta) => event('function_call_arguments.delta', { ...at, delta })),
    event('function_call_arguments.done', { ...at, arguments: pieces.join('') }),
    event('output_item.done', { output_index: index, item: whole }),
  ]
}

/** All events of a thought with these summaries, each in one piece. */
export function thoughtItem(index: number, summaries: readonly string[], id = `rs_${index}`): JsonObject[] {
  const item = { id, type: 'reasoning', summary: [], encrypted_content: 'partial' }
  const parts = summaries.map((text) => ({ type: 'summary_text', text }))
  return [
    event('output_item.added', { output_index: index, item }),
    ...parts.flatMap(({ text }, summary) => {
      const at = { output_index: index, item_id: id, summary_index: summary }
      return [
        event('reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }),
        event('reasoning_summary_text.delta', { ...at, delta: text }),
        event('reasoning_summary_text.done', { ...at, text }),
        event('reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text } }),
      ]
    }),
    event('output_item.done', { output_index: index, item: { ...item, summary: parts, encrypted_content: 'proof' } }),
  ]
}

/** A target with these quirks. */
export function traitsWith(...quirks: string[]): TargetTraits {
  return { model: 'alpha-2026-01', maxOutputTokens: 32_768, quirks: new Set(quirks), accountId: 'acc_1' }
}

export const CONTEXT: AnswerContext = {
  id: 'req_ours',
  model: 'svc/alpha',
  created: 1_760_000_001,
  wantsUsage: true,
  wantsReasoning: true,
  estimatedInputTokens: 5,
}

/** A request of the hub that says nothing but one user text. */
export function requestWith(overrides: Partial<ChatRequest> = {}): ChatRequest {
  return {
    ...{ model: 'svc/alpha', stream: false, system: [], tools: [], sampling: {}, choices: 1 },
    turns: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    output: { type: 'text' },
    ...{ fallback: [], wantsUsage: false, extensions: {} },
    ...overrides,
  }
}
