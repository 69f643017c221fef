/** Changes to bodies if caller and provider use messages: names, limits, unpriced features, and usage if the provider sends none. */
import { invalidRequest } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import { relayedFields } from '@/formats/body-fields'
import type { AnswerContext, PassHooks, PassingStream, PassThrough, TargetTraits } from '@/formats/format'
import { leaveOutInside } from '@/formats/nested-fields'
import { leftOutOfOwn } from '@/formats/protocol'
import { ROUTING_FIELDS } from '@/formats/routing-fields'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { editJson, replaceStringInJson } from '@/lib/json-splice'
import type { Frame } from '@/lib/streams/sse'
import { BODY_FIELDS, NESTED_FIELDS } from './body-fields'
import { LIMITS } from './limits'
import { QUIRKS } from './provider'
import { restoreSignatures } from './restore-signatures'
import { limitServerTools } from './server-tools'
import { effortFor } from './thinking-effort'
import { decodeUsage, encodeEstimate, encodeUsage } from './usage'

export const passThrough: PassThrough = { request: passRequest, response: passResponse, createStream }

/** Fields that are not sent: the gateway handles them itself, or sends them as a header (betas). */
const READ_HERE = ['fallback', 'svc', ...ROUTING_FIELDS, 'betas', 'anthropic_beta'] as const

const SAMPLING_FIELDS = ['temperature', 'top_p', 'top_k'] as const

/** A context edit that summarises the conversation in a separate call, whose tokens the usage doesn't include. */
const COMPACTION = /^compact/

/**
 * The caller's own body for the upstream. Never changes `body`; shares unchanged parts. Throws `invalid_request` for a compaction. Uses the
 * quirks `noSampling`, `noThinking`, `adaptiveThinking`, `alwaysThinking` and `unpricedExtras`.
 */
function passRequest(body: JsonObject, request: ChatRequest, traits: TargetTraits): JsonObject {
  if (!traits.quirks.has(QUIRKS.unpricedExtras)) refuseCompaction(body)
  const copy: JsonObject = { ...relayedFields(body, BODY_FIELDS), model: traits.model }
  // The caller's original `thinking`, because its budget is read below.
  if (body.thinking !== undefined) copy.thinking = body.thinking
  for (const field of READ_HERE) if (copy[field] !== undefined) delete copy[field]
  if (traits.toolLimits) copy.tools = limitServerTools(copy.tools, traits.toolLimits) ?? []
  const leftOut = leftOutOfOwn(request, traits)
  for (const path of leftOut) leaveOut(copy, path)
  if (leftOut.length > 0) leaveOutInside(copy, leftOut, NESTED_FIELDS)
  if (traits.quirks.has(QUIRKS.noSampling)) for (const field of SAMPLING_FIELDS) delete copy[field]
  if (traits.quirks.has(QUIRKS.noThinking)) withoutThinking(copy)
  if (traits.quirks.has(QUIRKS.adaptiveThinking)) adaptThinking(copy, traits.quirks.has(QUIRKS.alwaysThinking))
  if (request.maxOutputTokens !== undefined && request.maxOutputTokens !== body.max_tokens) {
    copy.max_tokens = request.maxOutputTokens
    fitThinking(copy, request.maxOutputTokens)
  }
  restoreSignatures(copy)
  return copy
}

function withoutThinking(copy: JsonObject): void {
  delete copy.thinking
  leaveOut(copy, 'output_config.effort')
}

/** Removes a field, or a member of one; an object without members is removed as a whole. */
function leaveOut(copy: JsonObject, path: string): void {
  const [field = '', member] = path in copy ? [path] : path.split('.')
  const object = copy[field]
  if (member === undefined) delete copy[field]
  if (member === undefined || !isJsonObject(object)) return
  const { [member]: _, ...rest } = object
  if (Object.keys(rest).length > 0) copy[field] = rest
  else delete copy[field]
}

/** Converts a budget to an effort. If thinking can't be switched off, "no thinking" becomes the lowest effort. */
function adaptThinking(copy: JsonObject, isAlwaysOn: boolean): void {
  const { thinking } = copy
  if (!isJsonObject(thinking)) return
  const { type, budget_tokens: budget, ...rest } = thinking
  const isOff = type === 'disabled'
  if (type !== 'enabled' && !(isOff && isAlwaysOn)) return
  const effort = isOff ? 'low' : effortFor(typeof budget === 'number' ? { budgetTokens: budget } : {})
  // With a budget, thinking is shown by default; models with efforts hide it by default.
  copy.thinking = { ...(!isOff && { display: 'summarized' }), ...rest, type: 'adaptive' }
  if (effort === undefined) return
  const config = isJsonObject(copy.output_config) ? copy.output_config : {}
  copy.output_config = { effort, ...config }
}

function refuseCompaction({ context_management: management }: JsonObject): void {
  const edits = isJsonObject(management) && Array.isArray(management.edits) ? management.edits : []
  for (const [index, edit] of edits.entries()) {
    if (!isJsonObject(edit) || typeof edit.type !== 'string' || !COMPACTION.test(edit.type)) continue
    const path = `context_management.edits[${index}].type`
    throw invalidRequest(`${path} must not compact: no price covers a call beyond the request`, path)
  }
}

/** Keeps the thinking budget below a lowered output limit; if no valid budget remains, thinking is omitted. */
function fitThinking(copy: JsonObject, maxTokens: number): void {
  const { thinking } = copy
  if (!isJsonObject(thinking) || typeof thinking.budget_tokens !== 'number' || thinking.budget_tokens < maxTokens)
    return
  const budget = maxTokens - 1
  copy.thinking = budget < LIMITS.thinkingBudget.minimum ? { type: 'disabled' } : { ...thinking, budget_tokens: budget }
}

function passResponse(text: string, json: JsonObject, { model }: AnswerContext, hooks: PassHooks): string {
  const named = typeof json.model === 'string' ? replaceStringInJson(text, ['model'], json.model, model) : text
  if (decodeUsage(json.usage)) return named
  hooks.repaired('usage')
  return editJson(named, [{ path: ['usage'], value: encodeUsage(hooks.charged()) }])
}

function createStream(context: AnswerContext, hooks: PassHooks): PassingStream {
  /** Adds missing usage, since libraries throw at a start or end event without it. */
  function withUsage(data: string, path: string[], stated: JsonValue | undefined, fields: readonly string[]): string {
    const usage = isJsonObject(stated) ? stated : {}
    if (fields.every((field) => typeof usage[field] === 'number')) return data
    hooks.repaired('usage')
    const value = path.length > 1 ? encodeEstimate(context.estimatedInputTokens) : encodeUsage(hooks.charged())
    return editJson(data, [{ path, value }])
  }

  let isStarted = false

  return {
    // Libraries ignore text in a block's start, so it becomes an empty start and a delta.
    before: (json) => (isJsonObject(json) && textAtStart(json) ? [emptyStart(json)] : []),
    // Libraries ignore an event without its name.
    nameOf(json) {
      if (!isJsonObject(json)) return undefined
      return textAtStart(json) ? 'content_block_delta' : textOf(json.type)
    },
    // Drops errors (the gateway encodes its own), invalid JSON, and a repeated start.
    event(data, json) {
      if (!isJsonObject(json) || json.type === 'error' || isJsonObject(json.error)) return undefined
      const first = textAtStart(json)
      if (first) {
        hooks.repaired('delta')
        const { kind, text } = first
        return JSON.stringify({
          type: 'content_block_delta',
          index: json.index,
          delta: { type: `${kind}_delta`, [kind]: text },
        })
      }
      if (json.type === 'message_delta') return withUsage(data, ['usage'], json.usage, ['output_tokens'])
      if (json.type !== 'message_start' || !isJsonObject(json.message)) return data
      if (isStarted) {
        hooks.repaired('type')
        return undefined
      }
      isStarted = true
      const { model, usage } = json.message
      const named =
        typeof model === 'string' ? replaceStringInJson(data, ['message', 'model'], model, context.model) : data
      return withUsage(named, ['message', 'usage'], usage, ['input_tokens', 'output_tokens'])
    },
    closesWithUsage: (json) => isJsonObject(json) && json.type === 'message_delta',
    ending: () => [],
  }
}

function textAtStart({
  type,
  content_block: block,
}: JsonObject): { kind: 'text' | 'thinking'; text: string } | undefined {
  if (type !== 'content_block_start' || !isJsonObject(block)) return undefined
  const kind = block.type === 'text' || block.type === 'thinking' ? block.type : undefined
  const text = kind && textOf(block[kind])
  return kind && text ? { kind, text } : undefined
}

function emptyStart(json: JsonObject): Frame {
  const block = isJsonObject(json.content_block) ? json.content_block : {}
  const empty = { ...block, [String(block.type)]: '' }
  return { event: 'content_block_start', data: JSON.stringify({ ...json, content_block: empty }) }
}
