/** Decodes a messages request into the hub and checks its limits. */

import { markLastTurn } from '@/chat/cache-hints'
import { invalidRequest } from '@/chat/error'
import { type ChatRequest, EFFORTS, type OutputShape, type Reasoning, type Sampling } from '@/chat/request'
import { judgeFields, unlessEmpty, withInside } from '@/formats/body-fields'
import type { Recognition } from '@/formats/format'
import { BODY_FIELDS, NESTED_FIELDS } from '@/formats/messages/body-fields'
import { VERSION_HEADER } from '@/formats/messages/provider'
import { listServerTools } from '@/formats/messages/server-tools'
import { judgeInside } from '@/formats/nested-fields'
import { readRouting, withNamedModel } from '@/formats/routing-words'
import { isJsonObject, type JsonObject, textOf } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { decodeCache } from './decode-content'
import { decodeToolChoice, decodeTools } from './decode-tools'
import { decodeSystem, decodeTurns } from './decode-turns'
import { listHostedHistory, listNativeMedia, listNativeOnly } from './native-only'
import { checkCountTokens, checkRequest, type WireCountRequest, type WireRequest } from './wire'

/** Throws a GatewayError `invalid_request` that names the field and its limit. Never changes `body`. */
export function decodeRequest(body: JsonObject): ChatRequest {
  const wire = checkRequest(withNamedModel(body))
  return {
    ...decodeChecked(wire, body),
    stream: wire.stream ?? false,
    sampling: decodeSampling(wire),
    maxOutputTokens: wire.max_tokens,
    userId: wire.metadata?.user_id ?? undefined,
    serviceTier: wire.service_tier,
  }
}

function decodeChecked(wire: WireCountRequest, body: JsonObject): ChatRequest {
  const { system, turns } = decodeTurns(wire.messages)
  markLastTurn(turns, decodeCache(wire.cache_control))
  return {
    model: wire.model,
    stream: false,
    system: [...decodeSystem(wire.system), ...system],
    turns,
    tools: decodeTools(wire),
    toolChoice: decodeToolChoice(wire.tool_choice),
    parallelToolCalls: decodeParallelCalls(wire.tool_choice),
    sampling: {},
    choices: 1,
    reasoning: decodeReasoning(wire),
    output: decodeOutput(wire, body),
    ...readRouting({
      fallback: wire.fallback,
      models: wire.models,
      svc: wire.svc,
      usage: wire.usage,
      provider: wire.provider,
    }),
    wantsUsage: true,
    extensions: { messages: decodeExtensions(body) },
    nativeOnly: unlessEmpty(listNativeOnly(wire, body)),
    hostedHistory: unlessEmpty(listHostedHistory(wire)),
    nativeMedia: unlessEmpty(listNativeMedia(wire)),
    serverTools: unlessEmpty(listServerTools(wire.tools ?? [])),
    ...withInside(judgeFields(body, BODY_FIELDS, 'messages'), judgeInside(body, NESTED_FIELDS)),
  }
}

function decodeParallelCalls(choice: WireCountRequest['tool_choice']): boolean | undefined {
  if (!choice || choice.type === 'none' || choice.disable_parallel_tool_use === undefined) return undefined
  return !choice.disable_parallel_tool_use
}

/** With `Object.fromEntries`, even `__proto__` becomes an own property; an assignment would change the prototype. */
function decodeExtensions(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([field]) => BODY_FIELDS.get(field)?.kind !== 'hub'))
}

/** The output shape. Top-level `output_format` is an older place of `output_config.format`. */
function decodeOutput(wire: WireCountRequest, body: JsonObject): OutputShape {
  const schema = wire.output_config?.format?.schema as JsonObject | undefined
  if (schema) return { type: 'json-schema', schema: asWritten(schema) }
  const older = body.output_format
  if (older === undefined || older === null) return { type: 'text' }
  if (!isJsonObject(older) || older.type !== 'json_schema' || !isJsonObject(older.schema)) {
    throw invalidRequest('output_format must be an object of type json_schema with a schema', 'output_format')
  }
  return { type: 'json-schema', schema: asWritten(older.schema) }
}

function decodeReasoning({ thinking, output_config }: WireCountRequest): Reasoning | undefined {
  const effort = EFFORTS.find((known) => known !== 'none' && known === output_config?.effort)
  if (!thinking) return effort && { effort }
  switch (thinking.type) {
    case 'disabled':
      return { effort: 'none' }
    case 'between_tools':
      return { ...(effort ? { effort } : { budgetTokens: -1 }), visible: true }
    case 'adaptive':
      return { ...(effort ? { effort } : { budgetTokens: -1 }), visible: thinking.display !== 'omitted' }
    case 'enabled':
      return { budgetTokens: thinking.budget_tokens, effort, visible: thinking.display !== 'omitted' }
  }
}

function decodeSampling(wire: WireRequest): Sampling {
  return {
    temperature: wire.temperature,
    topP: wire.top_p,
    topK: wire.top_k,
    stop: wire.stop_sequences && wire.stop_sequences.length > 0 ? wire.stop_sequences : undefined,
  }
}

/** Fields by which a messages body is recognised. `thinking` is not listed, since chat-completions bodies may have it, too. */
const OWN_FIELDS = ['system', 'stop_sequences', 'output_config'] as const
const OWN_PARTS: ReadonlySet<string> = new Set(['image', 'document', 'tool_use', 'tool_result', 'thinking'])

export const recognition: Recognition = {
  headers: [VERSION_HEADER],
  keyHeaders: ['x-api-key'],
  isOwnPath: (path) => /^\/(v1\/)*messages(\/|$)/.test(path),
  isOwnBody(body, headers) {
    return headers.has(VERSION_HEADER) || OWN_FIELDS.some((name) => name in body) || hasOwnParts(body)
  },
}

function hasOwnParts({ tools, messages }: JsonObject): boolean {
  const entries = [tools, messages].flatMap((list) => (Array.isArray(list) ? list : [])).filter(isJsonObject)
  const parts = entries.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(isJsonObject)
  return entries.some((entry) => 'input_schema' in entry) || parts.some(({ type }) => OWN_PARTS.has(textOf(type) ?? ''))
}

/** Decodes a request whose tokens are to be counted; `max_tokens` is optional. Throws like `decodeRequest`. */
export function decodeCountTokens(body: JsonObject): ChatRequest {
  return decodeChecked(checkCountTokens(withNamedModel(body)), body)
}

/** `total` is our estimate of the request's input tokens, a non-negative integer. */
export function encodeCountTokens(total: number): JsonObject {
  return { input_tokens: total }
}
