/** Reads chat-completions answers as strictly as the strictest client library does. */
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
  type WireEvent,
} from './reading'

const FINISHES: Record<string, Finish> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  content_filter: 'refusal',
}

export const chatCompletionsReader: Reader = { readWhole, readStream, readError }

function readWhole(body: JsonValue | undefined, context: ReadContext): Reading {
  const complaints: string[] = []
  const seen = nothing()
  const answer = asObject(body) ?? {}
  const [choice, ...others] = objects(answer.choices)
  if (answer.object !== 'chat.completion') complaints.push(`object is ${answer.object}`)
  if (textOf(answer.id) === '' || countOf(answer.created) === 0) complaints.push('id or created is missing')
  if (answer.model !== context.model) complaints.push(`model is ${answer.model}`)
  if (!choice) complaints.push('no choice')
  seen.others = others.map((other) => textOf(asObject(other.message)?.content))
  const message = asObject(choice?.message) ?? {}
  if (message.role !== 'assistant') complaints.push(`role is ${message.role}`)
  if (message.content === undefined) complaints.push('content is missing')
  addText(seen, message)
  const calls = objects(message.tool_calls)
  checkCallIds(
    calls.map((call) => textOf(call.id)),
    complaints,
  )
  for (const call of calls) addCall(seen, asObject(call.function) ?? {}, complaints)
  seen.finish = finishOf(choice?.finish_reason, complaints)
  readUsage(seen, answer.usage, complaints)
  return { seen, error: undefined, complaints: context.isRaw ? [] : complaints }
}

function readStream(text: string, context: ReadContext): Reading {
  const complaints: string[] = []
  const events = splitEvents(text, complaints, false)
  const chunks: WireEvent[] = events.filter((event) => event.data !== '[DONE]' && !event.json?.error)
  const failed = events.find((event) => event.json?.error)
  const seen = readChunks(
    chunks.map(({ json }) => json ?? {}),
    context,
    complaints,
    failed !== undefined,
  )
  const doneAt = events.findIndex((event) => event.data === '[DONE]')
  if (failed) {
    if (doneAt !== -1) complaints.push('[DONE] in spite of an error')
    if (events.at(-1) !== failed) complaints.push('something follows the error')
    const message = readError(400, failed.json)
    if (message === undefined) complaints.push('the error has not the shape of the format')
    return { seen, error: { status: 200, message: message ?? '', textBefore: seen.text }, complaints }
  }
  if (doneAt !== events.length - 1) complaints.push('[DONE] is not the last event')
  return { seen, error: undefined, complaints: context.isRaw ? [] : complaints }
}

function addOther(seen: Seen, index: number, text: string): void {
  seen.others[index - 1] = (seen.others[index - 1] ?? '') + text
}

type Call = { id: string; name: string; argumentsText: string }

function readChunks(chunks: JsonObject[], context: ReadContext, complaints: string[], hasFailed: boolean): Seen {
  const seen = nothing()
  const calls = new Map<number, Call>()
  const finished = new Set<unknown>()
  const [first] = chunks
  if (first && asObject(objects(first.choices)[0]?.delta)?.role !== 'assistant') complaints.push('no role at first')
  for (const chunk of chunks) {
    if (chunk.object !== 'chat.completion.chunk') complaints.push(`object is ${chunk.object}`)
    if (chunk.id !== first?.id || chunk.created !== first?.created) complaints.push('id or created changes')
    if (chunk.model !== context.model) complaints.push(`model is ${chunk.model}`)
    const choices = objects(chunk.choices)
    if (choices.length === 0) {
      if (chunk !== chunks.at(-1)) complaints.push('a chunk without choice before the last')
      if (!asObject(chunk.usage)) complaints.push('a chunk with neither choice nor usage')
    }
    for (const choice of choices) {
      if (finished.has(choice.index)) complaints.push('a choice goes on after its finish')
      if (typeof choice.finish_reason === 'string') finished.add(choice.index)
      const delta = asObject(choice.delta) ?? {}
      // A client that puts texts together does so with roles.
      if (chunk !== first && delta.role && choice.index === 0) complaints.push('the role is said again')
      if (choice.index !== 0) {
        addOther(seen, countOf(choice.index), textOf(delta.content))
        continue
      }
      addText(seen, delta)
      for (const fragment of objects(delta.tool_calls)) addFragment(calls, fragment, complaints)
      if (typeof choice.finish_reason === 'string') seen.finish = finishOf(choice.finish_reason, complaints)
    }
    if (asObject(chunk.usage)) readUsage(seen, chunk.usage, complaints)
  }
  if (!hasFailed && finished.size !== 1 + seen.others.length) complaints.push(`${finished.size} finish reasons`)
  checkCallIds(
    [...calls.values()].map(({ id }) => id),
    complaints,
  )
  for (const { name, argumentsText } of calls.values()) addCall(seen, { name, arguments: argumentsText }, complaints)
  return seen
}

function addFragment(calls: Map<number, Call>, fragment: JsonObject, complaints: string[]): void {
  const definition = asObject(fragment.function) ?? {}
  if (typeof fragment.index !== 'number') complaints.push('a call fragment has no index')
  const index = typeof fragment.index === 'number' ? fragment.index : calls.size
  const known = calls.get(index)
  if (known) {
    if (fragment.id || definition.name) complaints.push('a call says its id or name again')
    known.argumentsText += textOf(definition.arguments)
    return
  }
  if (index !== calls.size) complaints.push(`call index ${index} after ${calls.size} calls`)
  if (fragment.type !== 'function') complaints.push(`call type is ${fragment.type}`)
  const { name, arguments: argumentsText } = definition
  calls.set(index, { id: textOf(fragment.id), name: textOf(name), argumentsText: textOf(argumentsText) })
}

function addText(seen: Seen, message: JsonObject): void {
  seen.text += textOf(message.content) + textOf(message.refusal)
  seen.reasoning += textOf(message.reasoning_content)
  for (const image of objects(message.images)) {
    const url = textOf(asObject(image.image_url)?.url)
    seen.images.push(url.replace(/^data:/, '').replace(';base64,', ';'))
  }
}

function addCall(seen: Seen, { name, arguments: argumentsText }: JsonObject, complaints: string[]): void {
  const parsed = parseJson(textOf(argumentsText))
  if (parsed === undefined) complaints.push(`arguments are no JSON: ${argumentsText}`)
  seen.calls.push({ name: textOf(name), arguments: parsed ?? null })
}

function finishOf(word: JsonValue | undefined, complaints: string[]): Finish {
  const finish = FINISHES[textOf(word)]
  if (!finish) complaints.push(`finish_reason is ${word}`)
  return finish ?? 'failed'
}

function readUsage(seen: Seen, value: JsonValue | undefined, complaints: string[]): void {
  const usage = asObject(value)
  if (!usage) return
  const prompt = countOf(usage.prompt_tokens)
  const output = countOf(usage.completion_tokens)
  if (usage.total_tokens !== prompt + output) complaints.push(`total_tokens is ${usage.total_tokens}`)
  const details = asObject(usage.prompt_tokens_details) ?? {}
  seen.usage = {
    input: prompt,
    cacheRead: countOf(details.cached_tokens),
    cacheWrite: countOf(details.cache_write_tokens),
    output,
    reasoning: countOf(asObject(usage.completion_tokens_details)?.reasoning_tokens),
  }
}

function readError(_status: number, body: JsonValue | undefined): string | undefined {
  const error = asObject(asObject(body)?.error)
  if (!error || !('param' in error) || !('code' in error) || typeof error.type !== 'string') return undefined
  return typeof error.message === 'string' ? error.message : undefined
}
