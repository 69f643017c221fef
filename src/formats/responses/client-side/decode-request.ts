/** A responses request as a request of the hub. */
import { GatewayError, invalidRequest } from '@/chat/error'
import { type ChatRequest, VERBOSITIES } from '@/chat/request'
import type { ServerTool } from '@/chat/server-tools'
import { judgeFields, withUnlisted } from '@/formats/body-fields'
import { unlistedInside } from '@/formats/nested-fields'
import { readPreferences } from '@/formats/preferences'
import { BODY_FIELDS, NESTED_FIELDS } from '@/formats/responses/body-fields'
import { listServerTools } from '@/formats/responses/server-tools'
import type { JsonObject, JsonValue } from '@/lib/json'
import { echoRequest } from './answer-echo'
import { checkRequest } from './check-request'
import { decodeOutput } from './decode-output'
import { decodeReasoning } from './decode-reasoning'
import { decodeSampling } from './decode-sampling'
import { type DecodedTools, decodeToolChoice, decodeTools } from './decode-tools'
import { type DecodedTurns, decodeTurns } from './decode-turns'
import { listHostedHistory, listNativeMedia, listNativeOnly } from './native-only'
import type { WireRequest } from './wire'

/** Throws `invalid_request` that names the field. Kept answers must be in place before. Never changes `body`. */
export function decodeRequest(body: JsonObject): ChatRequest {
  const request = checkRequest(body)
  refuseUnavailable(request, body)
  const tools = decodeTools(request)
  const conversation = decodeTurns(request)
  const toolChoice = decodeToolChoice(body.tool_choice, tools.origins)
  const output = decodeOutput(request, conversation.format)
  const reasoning = decodeReasoning(request, conversation.effort)
  const nativeOnly = listNativeOnly(request, tools)
  const hostedHistory = listHostedHistory(request)
  const nativeMedia = listNativeMedia(request)
  const serverTools = placedServerTools(tools, request.max_tool_calls)
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
    fallback: request.fallback ?? [],
    ...readPreferences(request.svc),
    answerEcho: echoRequest(request, body),
    // Callers who keep the conversation themselves need it, and so does whoever keeps it for the others.
    wantsEncryptedReasoning: true,
    wantsUsage: true,
    ...(nativeOnly.length > 0 && { nativeOnly }),
    ...(hostedHistory.length > 0 && { hostedHistory }),
    ...(nativeMedia.length > 0 && { nativeMedia }),
    ...(serverTools.length > 0 && { serverTools }),
    ...withUnlisted(judgeFields(body, BODY_FIELDS, 'responses'), unlistedInside(body, NESTED_FIELDS)),
    extensions: { responses: decodeExtensions(body, tools, conversation) },
  }
}

/** What would need something of the caller's that is kept here, or at a provider, and is not. */
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

/** Each with its own place in the body, and those that may be left out marked. */
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

/** `Object.fromEntries` makes own properties even of `__proto__`, which an assignment would not. */
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
