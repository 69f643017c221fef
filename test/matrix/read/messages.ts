/** Reads messages answers as strictly as the strictest client library does. */
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
  end_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  refusal: 'refusal',
  stop_sequence: 'stop-sequence',
  pause_turn: 'pause',
}

export const messagesReader: Reader = { readWhole, readStream, readError }

function readWhole(body: JsonValue | undefined, context: ReadContext): Reading {
  const complaints: string[] = []
  const message = asObject(body) ?? {}
  checkMessage(message, context, complaints)
  const seen = nothing()
  seen.finish = finishOf(message, complaints)
  seen.usage = readUsage(message.usage, complaints)
  addBlocks(seen, objects(message.content), complaints)
  return { seen, error: undefined, complaints: context.isRaw ? [] : complaints }
}

function checkMessage(message: JsonObject, { model }: ReadContext, complaints: string[]): void {
  if (message.type !== 'message' || message.role !== 'assistant') complaints.push('type or role is wrong')
  if (!textOf(message.id).startsWith('msg_')) complaints.push(`id is ${message.id}`)
  if (message.model !== model) complaints.push(`model is ${message.model}`)
  if (!Array.isArray(message.content)) complaints.push('content is no list')
  if (!('stop_sequence' in message)) complaints.push('stop_sequence is missing')
}

function readStream(text: string, context: ReadContext): Reading {
  const complaints: string[] = []
  const events = splitEvents(text, complaints, true).filter((event) => event.json?.type !== 'ping')
  for (const { event, json } of events) if (event !== json?.type) complaints.push(`event ${event} is ${json?.type}`)
  const failed = events.find((event) => event.event === 'error')
  const message = readEvents(events, context, complaints, failed !== undefined)
  const seen = nothing()
  addBlocks(seen, message.blocks, failed ? [] : complaints)
  if (failed) {
    if (events.at(-1) !== failed) complaints.push('something follows the error')
    const told = readError(400, failed.json)
    if (told === undefined) complaints.push('the error has not the shape of the format')
    return { seen, error: { status: 200, message: told ?? '', textBefore: seen.text }, complaints }
  }
  if (events.at(-1)?.event !== 'message_stop') complaints.push('message_stop is not the last event')
  seen.finish = finishOf(message.delta, complaints)
  seen.usage = readUsage(message.usage, complaints)
  return { seen, error: undefined, complaints: context.isRaw ? [] : complaints }
}

/** Puts the message together the way client libraries do, minding the order of the events. */
function readEvents(events: WireEvent[], context: ReadContext, complaints: string[], hasFailed: boolean) {
  const blocks: JsonObject[] = []
  let open: JsonObject | undefined
  let delta: JsonObject = {}
  let usage: JsonObject = {}
  for (const [position, { json = {} }] of events.entries()) {
    switch (json.type) {
      case 'message_start': {
        const message = asObject(json.message) ?? {}
        if (position !== 0) complaints.push('message_start is not the first event')
        checkMessage(message, context, complaints)
        if (objects(message.content).length > 0) complaints.push('the message starts with content')
        usage = readStartUsage(message.usage, complaints)
        break
      }
      case 'content_block_start':
        if (open) complaints.push('a block starts before the last one stopped')
        if (json.index !== blocks.length) complaints.push(`block index ${json.index} after ${blocks.length} blocks`)
        open = { ...asObject(json.content_block), partial: '' }
        blocks.push(open)
        break
      case 'content_block_delta':
        if (!open || json.index !== blocks.length - 1) complaints.push('a delta for a block that is not open')
        else applyDelta(open, asObject(json.delta) ?? {}, complaints)
        break
      case 'content_block_stop':
        if (!open || json.index !== blocks.length - 1) complaints.push('a stop for a block that is not open')
        open = undefined
        break
      case 'message_delta':
        delta = asObject(json.delta) ?? {}
        if (!asObject(json.usage)) complaints.push('message_delta has no usage')
        usage = { ...usage, ...asObject(json.usage) }
        break
    }
  }
  if (open && !hasFailed) complaints.push('the last block was not stopped')
  return { blocks, delta: { stop_sequence: null, ...delta }, usage }
}

/** A zero here would show in clients as a request without a prompt. */
function readStartUsage(value: JsonValue | undefined, complaints: string[]): JsonObject {
  const usage = asObject(value) ?? {}
  if (countOf(usage.input_tokens) === 0) complaints.push('message_start states no input tokens')
  if (typeof usage.output_tokens !== 'number') complaints.push('message_start states no output tokens')
  return usage
}

function applyDelta(block: JsonObject, delta: JsonObject, complaints: string[]): void {
  const kinds: Record<string, string> = {
    text_delta: 'text',
    thinking_delta: 'thinking',
    signature_delta: 'thinking',
    input_json_delta: 'tool_use',
  }
  if (kinds[textOf(delta.type)] !== block.type) complaints.push(`${delta.type} in a ${block.type} block`)
  block.text = textOf(block.text) + textOf(delta.text)
  block.thinking = textOf(block.thinking) + textOf(delta.thinking)
  block.partial = textOf(block.partial) + textOf(delta.partial_json)
  if (delta.type === 'signature_delta') block.signature = delta.signature
}

function addBlocks(seen: Seen, blocks: JsonObject[], complaints: string[]): void {
  const ids: string[] = []
  for (const block of blocks) {
    if (block.type === 'text') {
      if (block.text === '') complaints.push('an empty text block')
      seen.text += textOf(block.text)
    } else if (block.type === 'thinking') {
      if (textOf(block.signature) === '') complaints.push('a thinking block without signature')
      seen.reasoning += textOf(block.thinking)
    } else if (block.type === 'tool_use') {
      ids.push(textOf(block.id))
      const input = textOf(block.partial) === '' ? asObject(block.input) : asObject(parseJson(textOf(block.partial)))
      if (!input) complaints.push('the input of a call is no object')
      seen.calls.push({ name: textOf(block.name), arguments: input ?? null })
    } else if (block.type !== 'redacted_thinking') complaints.push(`a block of type ${block.type}`)
  }
  checkCallIds(ids, complaints)
}

function finishOf(message: JsonObject, complaints: string[]): Finish {
  const finish = FINISHES[textOf(message.stop_reason)]
  if (!finish) complaints.push(`stop_reason is ${message.stop_reason}`)
  if ((finish === 'stop-sequence') !== (typeof message.stop_sequence === 'string')) {
    complaints.push(`stop_sequence is ${message.stop_sequence} with ${message.stop_reason}`)
  }
  return finish ?? 'failed'
}

function readUsage(value: JsonValue | undefined, complaints: string[]): Seen['usage'] {
  const usage = asObject(value) ?? {}
  const uncached = countOf(usage.input_tokens)
  const cacheRead = countOf(usage.cache_read_input_tokens)
  const cacheWrite = countOf(usage.cache_creation_input_tokens)
  if (uncached < 0) complaints.push('input_tokens is negative')
  return {
    input: uncached + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: countOf(usage.output_tokens),
    reasoning: countOf(asObject(usage.output_tokens_details)?.thinking_tokens),
  }
}

function readError(_status: number, body: JsonValue | undefined): string | undefined {
  const outer = asObject(body)
  const error = asObject(outer?.error)
  if (outer?.type !== 'error' || !error || typeof error.type !== 'string') return undefined
  if (typeof outer.request_id !== 'string') return undefined
  return typeof error.message === 'string' ? error.message : undefined
}
