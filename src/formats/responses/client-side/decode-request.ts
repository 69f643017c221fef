/** Decodes a responses request into the hub. */

import { GatewayError, invalidRequest } from '@/chat/error'
import {
  type ChatRequest,
  EFFORTS,
  type Effort,
  type OutputShape,
  type Reasoning,
  type Sampling,
  VERBOSITIES,
} from '@/chat/request'
import type { ServerTool } from '@/chat/server-tools'
import { judgeFields, unlessEmpty, withInside } from '@/formats/body-fields'
import type { Recognition } from '@/formats/format'
import { judgeInside } from '@/formats/nested-fields'
import { schemaOutput } from '@/formats/openai'
import { BODY_FIELDS, NESTED_FIELDS } from '@/formats/responses/body-fields'
import { listServerTools } from '@/formats/responses/server-tools'
import { readRouting, withNamedModel } from '@/formats/routing-words'
import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { type DecodedTools, decodeToolChoice, decodeTools } from './decode-tools'
import { type DecodedTurns, decodeTurns } from './decode-turns'
import { listHostedHistory, listNativeMedia, listNativeOnly } from './native-only'
import { checkRequest, type WireRequest } from './wire'

const LOGPROBS = 'message.output_text.logprobs'

/** Throws `invalid_request` that names the field. Stored answers must have been inserted before. Never changes `body`. */
export function decodeRequest(body: JsonObject): ChatRequest {
  const request = checkRequest(withNamedModel(body))
  refuseUnavailable(request, body)
  const tools = decodeTools(request)
  const conversation = decodeTurns(request)
  const toolChoice = decodeToolChoice(body.tool_choice, tools.origins)
  const output = decodeOutput(request, conversation.format)
  const reasoning = decodeReasoning(request, conversation.effort)
  const userId = request.safety_identifier ?? request.user
  const verbosity = VERBOSITIES.find((candidate) => candidate === request.text?.verbosity)
  return {
    model: request.model,
    stream: request.stream ?? false,
    system: conversation.system,
    turns: conversation.turns,
    tools: tools.tools,
    ...(toolChoice && { toolChoice }),
    ...(typeof request.parallel_tool_calls === 'boolean' && { parallelToolCalls: request.parallel_tool_calls }),
    ...(tools.origins.size > 0 && { toolOrigins: tools.origins }),
    sampling: decodeSampling(request),
    ...(typeof request.max_output_tokens === 'number' && { maxOutputTokens: request.max_output_tokens }),
    choices: 1,
    ...(reasoning && { reasoning }),
    output: output ?? { type: 'text' },
    ...(verbosity && { verbosity }),
    ...(userId && { userId }),
    ...(request.prompt_cache_key && { cacheKey: request.prompt_cache_key }),
    ...(request.service_tier && { serviceTier: request.service_tier }),
    ...readRouting(request),
    answerEcho: echoRequest(request, body),
    // Callers who keep the conversation themselves need the encrypted reasoning, and so does the gateway's own store.
    wantsEncryptedReasoning: true,
    wantsUsage: true,
    nativeOnly: unlessEmpty(listNativeOnly(request, tools)),
    hostedHistory: unlessEmpty(listHostedHistory(request)),
    nativeMedia: unlessEmpty(listNativeMedia(request)),
    serverTools: unlessEmpty(placedServerTools(tools, request.max_tool_calls)),
    ...withInside(judgeFields(body, BODY_FIELDS, 'responses'), judgeInside(body, NESTED_FIELDS)),
    extensions: { responses: decodeExtensions(body, tools, conversation) },
  }
}

function refuseUnavailable(request: WireRequest, body: JsonObject): void {
  if (request.background) throw invalidRequest('background: answers are not made in the background here', 'background')
  for (const field of ['conversation', 'prompt'] as const) {
    const value = body[field]
    if (value === undefined || value === null) continue
    throw invalidRequest(`${field}: nothing of the kind is kept here; send its content in input`, field)
  }
  if (request.previous_response_id) {
    const id = request.previous_response_id.slice(0, 128)
    throw new GatewayError('invalid_request', `Previous response with id '${id}' not found.`, {
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    })
  }
  if (request.input === undefined || request.input === null || request.input.length === 0) {
    throw invalidRequest('input must be a non-empty string or array of items', 'input')
  }
}

function placedServerTools({ others, dropped }: DecodedTools, limit: WireRequest['max_tool_calls']): ServerTool[] {
  const listed = [...others.map((placed) => ({ ...placed, isOptional: false }))]
  for (const placed of dropped) listed.push({ ...placed, isOptional: true })
  return listed.flatMap(({ tool, path, isOptional }) =>
    listServerTools({ tools: [tool], max_tool_calls: limit }).map((found) => ({
      ...found,
      field: path,
      ...(isOptional && { isOptional }),
    })),
  )
}

/** With `Object.fromEntries`, even `__proto__` becomes an own property; an assignment would change the prototype. */
function decodeExtensions(body: JsonObject, tools: DecodedTools, { unread }: DecodedTurns): JsonObject {
  const fields = Object.entries(body).filter(
    ([field, value]) => BODY_FIELDS.get(field)?.kind !== 'hub' && value !== undefined,
  )
  const builtIn: JsonValue[] = [...tools.others, ...tools.dropped].map(({ tool }) => tool)
  return Object.fromEntries([
    ...fields,
    ...(builtIn.length > 0 ? [['tools', builtIn] as const] : []),
    ...(unread.length > 0 ? [['input', unread] as const] : []),
  ])
}

function decodeOutput({ text }: WireRequest, latestFormat?: JsonObject | null): OutputShape | undefined {
  const format: JsonObject | null | undefined = latestFormat ?? (text?.format as JsonObject | null | undefined)
  if (!format || format.type === 'text') return { type: 'text' }
  if (format.type === 'json_object') return { type: 'json' }
  if (format.type !== 'json_schema') return undefined
  const { schema } = format
  if (!isJsonObject(schema)) throw invalidRequest('text.format.schema is required', 'text.format.schema')
  return schemaOutput({ ...format, schema })
}

function decodeReasoning({ reasoning }: WireRequest, latestEffort?: string | null): Reasoning | undefined {
  const given = latestEffort ?? reasoning?.effort
  const effort = EFFORTS.find((candidate): candidate is Effort => candidate === given)
  const wantsSummary = Boolean(reasoning?.summary ?? reasoning?.generate_summary)
  if (effort === undefined) return wantsSummary ? { visible: true } : undefined
  return effort === 'none' ? { effort } : { effort, visible: wantsSummary }
}

function decodeSampling(request: WireRequest): Sampling {
  const wantsLogprobs = request.include?.includes(LOGPROBS) ?? false
  return {
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    logprobs: wantsLogprobs || undefined,
    topLogprobs: wantsLogprobs ? (request.top_logprobs ?? undefined) : undefined,
  }
}

/** The request fields that the answer repeats. `store` is false unless the route sets it. */
function echoRequest(request: WireRequest, body: JsonObject): JsonObject {
  const { format, ...text } = asWritten(request.text as JsonObject | null | undefined) ?? {}
  const { effort, summary, ...reasoning } = asWritten(request.reasoning as JsonObject | null | undefined) ?? {}
  const tier = request.service_tier
  return {
    id: randomId('resp'),
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: asWritten(body.metadata) ?? {},
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    prompt_cache_retention: request.prompt_cache_retention ?? null,
    reasoning: { ...reasoning, effort: effort ?? null, summary: summary ?? null },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: !tier || tier === 'auto' ? 'default' : tier,
    store: false,
    temperature: request.temperature ?? 1,
    text: { verbosity: 'medium', ...text, format: format ?? { type: 'text' } },
    tool_choice: asWritten(body.tool_choice) ?? 'auto',
    tools: asWritten(body.tools) ?? [],
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? 'disabled',
    user: request.user ?? null,
  }
}

/** Recognises a responses request by its path, or by `input`, which no other format has. */
export const recognition: Recognition = {
  headers: [],
  keyHeaders: [],
  isOwnPath: (path) => /^\/(v1\/)*responses(\/|$)/.test(path),
  isOwnBody: (body) => 'input' in body || 'previous_response_id' in body,
}

/** `total` is our estimate of the request's input tokens, a non-negative integer. */
export function encodeCountTokens(total: number): JsonObject {
  return { object: 'response.input_tokens', input_tokens: total }
}
