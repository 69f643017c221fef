/** What the same format needs on its way through: names replaced, bounds kept, nothing foreign or unpriced sent upstream. */
import { invalidRequest } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import type { AnswerContext, PassThrough, TargetTraits } from '@/formats/format'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { replaceStringInJson } from '@/lib/json-splice'
import { stripForeignThinking } from './strip-thinking'
import { LIMITS } from './wire-blocks'

export const passThrough: PassThrough = { request: passRequest, response: passResponse, event: passEvent }

/** Tools the provider knows by type that cost nothing beyond tokens, by the start of their type. */
const FREE_TOOLS = /^(custom|bash|text_editor|memory|computer|browser|tool_search_tool|web_fetch|mcp_toolset)(_|$)/
const SAMPLING_FIELDS = ['temperature', 'top_p', 'top_k'] as const

/**
 * The caller's own body for the upstream. Never changes `body`; shares what it doesn't change. Quirks: `no-sampling` drops
 * temperature, top_p and top_k; `unpriced-extras` lets through what the provider charges beyond tokens, which is otherwise
 * refused with `invalid_request`, because no hold covers it.
 */
function passRequest(body: JsonObject, request: ChatRequest, traits: TargetTraits): JsonObject {
  if (!traits.quirks.has('unpriced-extras')) refuseUnpriced(body)
  const copy: JsonObject = { ...body, model: traits.model }
  delete copy.fallback
  if (traits.quirks.has('no-sampling')) for (const field of SAMPLING_FIELDS) delete copy[field]
  if (request.maxOutputTokens !== undefined && request.maxOutputTokens !== body.max_tokens) {
    copy.max_tokens = request.maxOutputTokens
    fitThinking(copy, request.maxOutputTokens)
  }
  stripForeignThinking(copy)
  return copy
}

function refuseUnpriced(body: JsonObject): void {
  if (body.speed === 'fast') throw invalidRequest('speed must be standard: this model is sold at one speed', 'speed')
  if (typeof body.inference_geo === 'string' && body.inference_geo !== 'global') {
    throw invalidRequest('inference_geo must be global: this model is sold without a choice of region', 'inference_geo')
  }
  const tools = Array.isArray(body.tools) ? body.tools : []
  for (const [index, tool] of tools.entries()) {
    if (!isJsonObject(tool) || typeof tool.type !== 'string' || FREE_TOOLS.test(tool.type)) continue
    const path = `tools[${index}].type`
    throw invalidRequest(`${path} must be a tool that costs nothing per use: others are not sold with this model`, path)
  }
}

/** A lowered output limit must stay above the thinking budget; where no legal budget is left, the answer is not thought about. */
function fitThinking(copy: JsonObject, maxTokens: number): void {
  const { thinking } = copy
  if (!isJsonObject(thinking) || typeof thinking.budget_tokens !== 'number' || thinking.budget_tokens < maxTokens)
    return
  const budget = maxTokens - 1
  copy.thinking = budget < LIMITS.thinkingBudgetMin ? { type: 'disabled' } : { ...thinking, budget_tokens: budget }
}

function passResponse(text: string, json: JsonObject, publicModel: string): string {
  if (typeof json.model !== 'string') return text
  return replaceStringInJson(text, ['model'], json.model, publicModel)
}

/** An error is hidden, since the encoder tells it in our own words; so is what is not JSON. */
function passEvent(data: string, json: JsonValue | undefined, context: AnswerContext): string | undefined {
  if (!isJsonObject(json) || json.type === 'error' || isJsonObject(json.error)) return undefined
  if (json.type !== 'message_start' || !isJsonObject(json.message)) return data
  const { model } = json.message
  return typeof model === 'string' ? replaceStringInJson(data, ['message', 'model'], model, context.model) : data
}
