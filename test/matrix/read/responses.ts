/** Reads responses answers as strictly as the strictest client libraries do: `openai`'s stream helper, the AI SDK and Codex together. */
import type { Finish, Seen } from '@test/matrix/types'
import { type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import {
  asObject,
  checkCallIds,
  countOf,
  nothing,
  objects,
  type ReadContext,
  type Reader,
  type Reading,
  splitEvents,
  textOf,
} from './reading'
import { checkStream } from './responses-stream'

export const responsesReader: Reader = { readWhole, readStream, readError }

/** What every response says, if only that there is none of it. */
const FIELDS = [
  'background',
  'completed_at',
  'created_at',
  'error',
  'id',
  'incomplete_details',
  'instructions',
  'max_output_tokens',
  'metadata',
  'model',
  'object',
  'output',
  'parallel_tool_calls',
  'previous_response_id',
  'reasoning',
  'service_tier',
  'status',
  'store',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_p',
  'truncation',
  'usage',
]

function readWhole(body: JsonValue | undefined, context: ReadContext): Reading {
  const complaints: string[] = []
  const seen = readResponse(asObject(body) ?? {}, context, complaints)
  return { seen, error: undefined, complaints: context.isRaw ? [] : complaints }
}

function readStream(text: string, context: ReadContext): Reading {
  const complaints: string[] = []
  const events = splitEvents(text, complaints, true)
  for (const { event, json } of events) if (event !== json?.type) complaints.push(`event ${event} is a ${json?.type}`)
  const messages = events.map(({ json }) => json ?? {})
  const stream = checkStream(messages, complaints)
  const failed = messages.find(({ type }) => type === 'error')
  if (failed) {
    checkFailure(messages, failed, complaints)
    const error = { status: 200, message: textOf(failed.message), textBefore: stream.text }
    return { seen: nothing(), error, complaints }
  }
  const last = messages.at(-1) ?? {}
  if (!['response.completed', 'response.incomplete'].includes(textOf(last.type))) {
    complaints.push(`the last event is ${last.type}`)
  }
  const whole = asObject(last.response) ?? {}
  const seen = readResponse(whole, context, complaints)
  for (const { type, response } of messages) {
    const { id, model } = asObject(response) ?? {}
    if (response !== undefined && (id !== whole.id || model !== whole.model))
      complaints.push(`${type} renames the answer`)
  }
  // What was streamed is what the last event says as a whole.
  if (JSON.stringify(stream.items) !== JSON.stringify(whole.output))
    complaints.push('the output is not what was streamed')
  if (stream.text !== seen.text) complaints.push(`the deltas say ${stream.text}`)
  return { seen, error: undefined, complaints: context.isRaw ? [] : complaints }
}

/** Codex reads `response.failed` and nothing else, the other libraries the `error` before it, in either of its two shapes. */
function checkFailure(events: readonly JsonObject[], failed: JsonObject, complaints: string[]): void {
  const [first, second, ...others] = events.slice(events.indexOf(failed))
  const nested = asObject(first?.error)
  if (textOf(first?.message) === '' || textOf(nested?.message) !== first?.message)
    complaints.push('the error is not said twice')
  const response = asObject(second?.response)
  if (second?.type !== 'response.failed' || response?.status !== 'failed') complaints.push('no response.failed follows')
  if (textOf(asObject(response?.error)?.message) !== first?.message)
    complaints.push('response.failed has another message')
  if (others.length > 0) complaints.push('something follows the failure')
}

function readResponse(response: JsonObject, context: ReadContext, complaints: string[]): Seen {
  const seen = nothing()
  const missing = FIELDS.filter((field) => !(field in response))
  if (missing.length > 0) complaints.push(`missing: ${missing.join(', ')}`)
  if (response.object !== 'response') complaints.push(`object is ${response.object}`)
  if (!/^resp_[A-Za-z0-9]{20,}$/.test(textOf(response.id))) complaints.push(`id is ${response.id}`)
  if (countOf(response.created_at) < 1_700_000_000) complaints.push(`created_at is ${response.created_at}`)
  if (response.model !== context.model) complaints.push(`model is ${response.model}`)
  if (!Array.isArray(response.output)) complaints.push('output is no list')
  const ids = new Set<JsonValue | undefined>()
  for (const item of objects(response.output)) {
    if (textOf(item.id) === '' || ids.has(item.id)) complaints.push(`item id ${item.id}`)
    ids.add(item.id)
    addItem(seen, item, complaints)
  }
  const calls = objects(response.output).filter(({ type }) => type === 'function_call')
  checkCallIds(
    calls.map((call) => textOf(call.call_id)),
    complaints,
  )
  seen.finish = finishOf(response, complaints)
  seen.usage = readUsage(response.usage, complaints)
  return seen
}

function addItem(seen: Seen, item: JsonObject, complaints: string[]): void {
  switch (item.type) {
    case 'message':
      if (item.role !== 'assistant' || typeof item.status !== 'string')
        complaints.push('a message without role or status')
      for (const part of objects(item.content)) {
        if (part.type === 'output_text' && !Array.isArray(part.annotations))
          complaints.push('a text without annotations')
        if (part.type !== 'output_text' && part.type !== 'refusal') complaints.push(`a part of type ${part.type}`)
        seen.text += textOf(part.text) + textOf(part.refusal)
      }
      return
    case 'reasoning':
      if (!Array.isArray(item.summary)) complaints.push('a reasoning item without summary')
      seen.reasoning += objects(item.summary)
        .map(({ text }) => textOf(text))
        .join('')
      return
    case 'function_call': {
      const parsed = parseJson(textOf(item.arguments))
      if (parsed === undefined) complaints.push(`arguments are no JSON: ${item.arguments}`)
      if (item.status !== 'completed') complaints.push(`a call is ${item.status}`)
      seen.calls.push({ name: textOf(item.name), arguments: parsed ?? null })
      return
    }
    case 'image_generation_call':
      seen.images.push(`image/${textOf(item.output_format) || 'png'};${textOf(item.result)}`)
      return
    default:
      complaints.push(`an item of type ${item.type}`)
  }
}

const REASONS: Record<string, Finish> = { max_output_tokens: 'length', content_filter: 'refusal' }

function finishOf(response: JsonObject, complaints: string[]): Finish {
  const output = objects(response.output)
  if (response.status === 'completed') {
    if (response.error !== null || response.incomplete_details !== null) complaints.push('completed, but not well')
    if (output.some(({ type }) => type === 'function_call')) return 'tool-calls'
    const parts = output.flatMap(({ content }) => objects(content))
    return parts.some(({ type }) => type === 'refusal') ? 'refusal' : 'stop'
  }
  const reason = textOf(asObject(response.incomplete_details)?.reason)
  const finish = response.status === 'incomplete' ? REASONS[reason] : undefined
  if (!finish) complaints.push(`status is ${response.status}, ${reason}`)
  return finish ?? 'failed'
}

/** Codex refuses a response whose usage has details without both counts. */
function readUsage(value: JsonValue | undefined, complaints: string[]): Seen['usage'] {
  const usage = asObject(value) ?? {}
  const before = asObject(usage.input_tokens_details) ?? {}
  const after = asObject(usage.output_tokens_details) ?? {}
  if (typeof before.cached_tokens !== 'number') complaints.push('no cached_tokens')
  if (typeof after.reasoning_tokens !== 'number') complaints.push('no reasoning_tokens')
  const [input, output] = [countOf(usage.input_tokens), countOf(usage.output_tokens)]
  if (usage.total_tokens !== input + output) complaints.push(`total_tokens is ${usage.total_tokens}`)
  return {
    input,
    cacheRead: countOf(before.cached_tokens),
    cacheWrite: countOf(before.cache_write_tokens),
    output,
    reasoning: countOf(after.reasoning_tokens),
  }
}

function readError(_status: number, body: JsonValue | undefined): string | undefined {
  const error = asObject(asObject(body)?.error)
  if (!error || !('param' in error) || !('code' in error) || typeof error.type !== 'string') return undefined
  return typeof error.message === 'string' ? error.message : undefined
}
