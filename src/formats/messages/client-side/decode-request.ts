/** Reads a messages request into the hub: checks every field against its limit, and keeps what the hub has no word for. */
import { invalidRequest } from '@/chat/error'
import { type ChatRequest, EFFORTS, type OutputShape, type Reasoning, type Sampling, type Turn } from '@/chat/request'
import { decodeCache } from '@/formats/messages/cache'
import { decodeTools } from '@/formats/messages/tools'
import { CountTokensRequest, MessagesRequest, type WireCountRequest, type WireRequest } from '@/formats/messages/wire'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { createValidator } from './check-request'
import { decodeSystem, decodeTurns } from './decode-turns'

const validateRequest = createValidator(MessagesRequest)
const validateCountRequest = createValidator(CountTokensRequest)

/** Top-level fields that the hub has words for; all others are kept as extensions. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set(
  Object.keys(MessagesRequest.properties).filter((name) => name !== 'speed'),
)

/** Fields that send the work, or the caller's data, somewhere only this format's own providers can, unless they are idle. */
const NATIVE_FIELDS = ['container', 'mcp_servers', 'inference_geo'] as const
const IDLE_VALUES: readonly unknown[] = [undefined, null, 'global']

/** Throws a GatewayError `invalid_request` that names the field and the limit it breaks. Never changes `body`. */
export function decodeRequest(body: JsonObject): ChatRequest {
  validateRequest(body, '')
  const wire = body as unknown as WireRequest
  const request = decodeCommon(wire, body)
  if (wire.max_tokens === 0) request.nativeOnly = [...(request.nativeOnly ?? []), 'max_tokens 0 (warms the cache)']
  return {
    ...request,
    stream: wire.stream ?? false,
    sampling: decodeSampling(wire),
    maxOutputTokens: wire.max_tokens,
    userId: wire.metadata?.user_id ?? undefined,
    serviceTier: wire.service_tier,
  }
}

/** Reads the body of a count-tokens request: a request whose `max_tokens` may be absent. Throws like {@link decodeRequest}. */
export function decodeCountRequest(body: JsonObject): ChatRequest {
  validateCountRequest(body, '')
  return decodeCommon(body as unknown as WireCountRequest, body)
}

function decodeCommon(wire: WireCountRequest, body: JsonObject): ChatRequest {
  const { tools, toolChoice, parallelToolCalls, nativeOnly } = decodeTools(wire)
  const { leadingSystem, turns, unknownBlocks } = decodeTurns(wire.messages)
  const native = [...nativeOnly, ...unknownBlocks, ...nativeFields(body)]
  markLastBlock(turns, decodeCache(wire.cache_control))
  return {
    model: wire.model,
    stream: false,
    system: [...decodeSystem(wire.system), ...leadingSystem],
    turns,
    tools,
    toolChoice,
    parallelToolCalls,
    sampling: {},
    choices: 1,
    reasoning: decodeReasoning(wire),
    output: decodeOutput(wire, body),
    fallback: wire.fallback ?? [],
    wantsUsage: true,
    extensions: { messages: unknownFields(body) },
    ...(native.length > 0 && { nativeOnly: native }),
  }
}

function nativeFields(body: JsonObject): string[] {
  return NATIVE_FIELDS.filter((field) => {
    const value = body[field]
    return !IDLE_VALUES.includes(value) && !(Array.isArray(value) && value.length === 0)
  })
}

/** Built by fromEntries, which defines own properties, so that a field named `__proto__` stays a field. */
function unknownFields(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([field]) => !KNOWN_FIELDS.has(field)))
}

/** The top-level cache hint stands for one on the last block of the prompt that can carry it. */
function markLastBlock(turns: Turn[], cache: ReturnType<typeof decodeCache>): void {
  if (!cache) return
  for (const turn of turns.toReversed()) {
    const last = turn.content.findLast((block) => block.type !== 'reasoning' && block.type !== 'refusal')
    if (!last) continue
    last.cache ??= cache
    return
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

/** `output_format` at the top level is the older place of `output_config.format`. */
function decodeOutput(wire: WireCountRequest, body: JsonObject): OutputShape {
  const schema = wire.output_config?.format?.schema as JsonObject | undefined
  if (schema) return { type: 'json-schema', schema }
  const older = body.output_format
  if (older === undefined || older === null) return { type: 'text' }
  if (!isJsonObject(older) || older.type !== 'json_schema' || !isJsonObject(older.schema)) {
    throw invalidRequest('output_format must be an object of type json_schema with a schema', 'output_format')
  }
  return { type: 'json-schema', schema: older.schema }
}
