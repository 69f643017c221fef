/** Asking the sandbox in each format and reading what it answers, as plainly as a test can. */
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

export type Ask = { prompt: string; stream: boolean; maxTokens?: number; withTool?: boolean; toolResult?: string }

/** What the tests look at, whatever the format. */
type Seen = {
  text: string
  toolCalls: { name: JsonValue | undefined; arguments: JsonValue }[]
  finish: JsonValue | undefined
  inputTokens: number
  outputTokens: number
}

type Format = {
  name: string
  finish: { stop: string; tool: string; length: string }
  path(stream: boolean): string
  body(ask: Ask): JsonObject
  readWhole(body: JsonObject): Seen
  readEvents(events: JsonObject[]): Seen
}

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const TOOL = 'get_weather'
const ARGUMENTS = { city: 'Oslo' }

const chatCompletions: Format = {
  name: 'chat-completions',
  finish: { stop: 'stop', tool: 'tool_calls', length: 'length' },
  path: () => '/v1/chat/completions',
  body({ prompt, stream, maxTokens, withTool, toolResult }) {
    const call = { id: 'call_1', type: 'function', function: { name: TOOL, arguments: JSON.stringify(ARGUMENTS) } }
    const turns = [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: toolResult ?? '' },
    ]
    return {
      model: 'alpha',
      messages: [{ role: 'user', content: prompt }, ...(toolResult === undefined ? [] : turns)],
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
      ...(maxTokens === undefined ? {} : { max_completion_tokens: maxTokens }),
      ...(withTool ? { tools: [{ type: 'function', function: { name: TOOL, parameters: SCHEMA } }] } : {}),
    }
  },
  readWhole(body) {
    const choice = at(body, 'choices', 0)
    const calls = list(at(choice, 'message', 'tool_calls'))
    return {
      text: text(at(choice, 'message', 'content')),
      toolCalls: calls.map((call) => readCall(at(call, 'function', 'name'), text(at(call, 'function', 'arguments')))),
      finish: at(choice, 'finish_reason'),
      inputTokens: count(at(body, 'usage', 'prompt_tokens')),
      outputTokens: count(at(body, 'usage', 'completion_tokens')),
    }
  },
  readEvents(events) {
    const deltas = events.map((event) => at(event, 'choices', 0, 'delta'))
    const pieces = deltas.flatMap((delta) => list(at(delta, 'tool_calls')))
    const name = pieces.map((piece) => at(piece, 'function', 'name')).find((each) => each !== undefined)
    const made = pieces.map((piece) => text(at(piece, 'function', 'arguments'))).join('')
    return {
      text: deltas.map((delta) => text(at(delta, 'content'))).join(''),
      toolCalls: name === undefined ? [] : [readCall(name, made)],
      finish: events.map((event) => at(event, 'choices', 0, 'finish_reason')).find((each) => typeof each === 'string'),
      inputTokens: count(at(events.at(-1), 'usage', 'prompt_tokens')),
      outputTokens: count(at(events.at(-1), 'usage', 'completion_tokens')),
    }
  },
}

const messages: Format = {
  name: 'messages',
  finish: { stop: 'end_turn', tool: 'tool_use', length: 'max_tokens' },
  path: () => '/v1/messages',
  body({ prompt, stream, maxTokens, withTool, toolResult }) {
    const turns = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: TOOL, input: ARGUMENTS }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: toolResult ?? '' }] },
    ]
    return {
      model: 'beta',
      max_tokens: maxTokens ?? 1000,
      stream,
      messages: [{ role: 'user', content: prompt }, ...(toolResult === undefined ? [] : turns)],
      ...(withTool ? { tools: [{ name: TOOL, input_schema: SCHEMA }] } : {}),
    }
  },
  readWhole(body) {
    const blocks = list(at(body, 'content'))
    const calls = blocks.filter((block) => at(block, 'type') === 'tool_use')
    return {
      text: blocks.map((block) => text(at(block, 'text'))).join(''),
      toolCalls: calls.map((call) => ({ name: at(call, 'name'), arguments: at(call, 'input') ?? null })),
      finish: at(body, 'stop_reason'),
      inputTokens: count(at(body, 'usage', 'input_tokens')),
      outputTokens: count(at(body, 'usage', 'output_tokens')),
    }
  },
  readEvents(events) {
    const starts = events.map((event) => at(event, 'content_block')).filter((block) => at(block, 'type') === 'tool_use')
    const made = events.map((event) => text(at(event, 'delta', 'partial_json'))).join('')
    return {
      text: events.map((event) => text(at(event, 'delta', 'text'))).join(''),
      toolCalls: starts.map((block) => readCall(at(block, 'name'), made)),
      finish: events.map((event) => at(event, 'delta', 'stop_reason')).find((each) => typeof each === 'string'),
      inputTokens: count(at(events[0], 'message', 'usage', 'input_tokens')),
      outputTokens: count(at(events.at(-2), 'usage', 'output_tokens')),
    }
  },
}

const generateContent: Format = {
  name: 'generate-content',
  finish: { stop: 'STOP', tool: 'STOP', length: 'MAX_TOKENS' },
  path: (stream) => `/v1beta/models/gamma:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body({ prompt, maxTokens, withTool, toolResult }) {
    const turns = [
      { role: 'model', parts: [{ functionCall: { name: TOOL, args: ARGUMENTS } }] },
      { role: 'user', parts: [{ functionResponse: { name: TOOL, response: { result: toolResult ?? '' } } }] },
    ]
    return {
      contents: [{ role: 'user', parts: [{ text: prompt }] }, ...(toolResult === undefined ? [] : turns)],
      ...(maxTokens === undefined ? {} : { generationConfig: { maxOutputTokens: maxTokens } }),
      ...(withTool ? { tools: [{ functionDeclarations: [{ name: TOOL, parameters: SCHEMA }] }] } : {}),
    }
  },
  readWhole: (body) => generateContent.readEvents([body]),
  readEvents(events) {
    const parts = events.flatMap((event) => list(at(event, 'candidates', 0, 'content', 'parts')))
    const calls = parts.map((part) => at(part, 'functionCall')).filter((call) => call !== undefined)
    return {
      text: parts.map((part) => text(at(part, 'text'))).join(''),
      toolCalls: calls.map((call) => ({ name: at(call, 'name'), arguments: at(call, 'args') ?? null })),
      finish: at(events.at(-1), 'candidates', 0, 'finishReason'),
      inputTokens: count(at(events.at(-1), 'usageMetadata', 'promptTokenCount')),
      outputTokens: count(at(events.at(-1), 'usageMetadata', 'candidatesTokenCount')),
    }
  },
}

const responses: Format = {
  name: 'responses',
  finish: { stop: 'completed', tool: 'completed', length: 'incomplete' },
  path: () => '/v1/responses',
  body({ prompt, stream, maxTokens, withTool, toolResult }) {
    const turns = [
      { type: 'function_call', call_id: 'call_1', name: TOOL, arguments: JSON.stringify(ARGUMENTS) },
      { type: 'function_call_output', call_id: 'call_1', output: toolResult ?? '' },
    ]
    return {
      model: 'delta',
      stream,
      input: [{ role: 'user', content: prompt }, ...(toolResult === undefined ? [] : turns)],
      ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
      ...(withTool ? { tools: [{ type: 'function', name: TOOL, parameters: SCHEMA, strict: false }] } : {}),
    }
  },
  readWhole(body) {
    const items = list(at(body, 'output'))
    const calls = items.filter((item) => at(item, 'type') === 'function_call')
    return {
      text: items.flatMap((item) => list(at(item, 'content')).map((part) => text(at(part, 'text')))).join(''),
      toolCalls: calls.map((call) => readCall(at(call, 'name'), text(at(call, 'arguments')))),
      finish: at(body, 'status'),
      inputTokens: count(at(body, 'usage', 'input_tokens')),
      outputTokens: count(at(body, 'usage', 'output_tokens')),
    }
  },
  readEvents(events) {
    const last = at(events.at(-1), 'response')
    return responses.readWhole(isJsonObject(last) ? last : {})
  },
}

export const FORMATS: readonly Format[] = [chatCompletions, messages, generateContent, responses]

function at(value: JsonValue | undefined, ...path: readonly (string | number)[]): JsonValue | undefined {
  let found = value
  for (const step of path) {
    if (typeof step === 'number') found = Array.isArray(found) ? found[step] : undefined
    else found = isJsonObject(found) ? found[step] : undefined
  }
  return found
}

function list(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : []
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function count(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : Number.NaN
}

function readCall(name: JsonValue | undefined, argumentsText: string): Seen['toolCalls'][number] {
  return { name, arguments: JSON.parse(argumentsText) }
}
