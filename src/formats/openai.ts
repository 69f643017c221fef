/** Functions shared by OpenAI's two formats, for errors, user blocks, end users, limits, service tiers, tools and calls. */
import { type ErrorKind, type GatewayError, invalidRequest, retryHeader } from '@/chat/error'
import { lost } from '@/chat/features'
import type {
  AudioBlock,
  CacheHint,
  ChatRequest,
  ContentBlock,
  Effort,
  FileBlock,
  ImageBlock,
  OutputShape,
  RefusalBlock,
  ResultBlock,
  TextBlock,
  Tool,
  ToolResultBlock,
  Turn,
  Warning,
} from '@/chat/request'
import { sha256Hex } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import type { EncodedError, ModelListEndpoint, TargetTraits } from './format'
import { audioFormat } from './media'

/** The list of models comes in one response: in an object's `data`, or (at Together) as an array. */
export const MODEL_LIST: ModelListEndpoint = {
  url: ({ baseUrl }) => `${baseUrl}/models`,
  readPage(json) {
    const entries = isJsonObject(json) ? json.data : json
    return Array.isArray(entries) ? { entries, next: undefined } : undefined
  },
}

export type PartBlock = TextBlock | RefusalBlock | ImageBlock | FileBlock | AudioBlock

type Words = { type: string; code: string | null }

const WORDS_OF_KIND: Record<ErrorKind, Words> = {
  invalid_request: { type: 'invalid_request_error', code: null },
  invalid_credentials: { type: 'invalid_request_error', code: 'invalid_api_key' },
  insufficient_credit: { type: 'insufficient_quota', code: 'insufficient_quota' },
  forbidden: { type: 'permission_error', code: null },
  not_found: { type: 'invalid_request_error', code: null },
  model_not_found: { type: 'invalid_request_error', code: 'model_not_found' },
  method_not_allowed: { type: 'invalid_request_error', code: null },
  conflict: { type: 'invalid_request_error', code: null },
  gone: { type: 'invalid_request_error', code: null },
  precondition_failed: { type: 'invalid_request_error', code: null },
  too_large: { type: 'invalid_request_error', code: null },
  context_length_exceeded: { type: 'invalid_request_error', code: 'context_length_exceeded' },
  unsupported_media_type: { type: 'invalid_request_error', code: null },
  rate_limited: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  internal: { type: 'server_error', code: null },
  upstream_failed: { type: 'server_error', code: null },
  overloaded: { type: 'server_error', code: null },
  timeout: { type: 'server_error', code: 'timeout' },
  client_gone: { type: 'invalid_request_error', code: null },
}

/** Encodes an error as status, body and headers. */
export function encodeError(error: GatewayError, requestId: string): EncodedError {
  return {
    status: error.status,
    body: { error: encodeErrorBody(error) },
    headers: { ...error.options.headers, 'x-request-id': requestId, ...retryHeader(error) },
  }
}

/** The error object. It always has all four keys, because client libraries read them. */
export function encodeErrorBody({ kind, message, options }: GatewayError): JsonObject {
  const { param, code, details } = options
  const words = WORDS_OF_KIND[kind]
  return { ...details, message, type: words.type, param: param ?? null, code: code ?? words.code }
}

/** OpenAI refuses longer ids; a digest still identifies an end user. */
const MAX_USER_ID_CHARS = 64

/** The end user's id, shortened to the allowed length. */
export function encodeUserId(userId: string): string {
  return userId.length <= MAX_USER_ID_CHARS ? userId : sha256Hex(userId)
}

const SERVICE_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])

/** Encodes the service tier, with a warning if it is unknown. `priced` is the tier with a price in the catalogue. */
export function encodeServiceTier(
  tier: string | undefined,
  priced: string | undefined,
  warnings: Warning[],
): JsonObject {
  if (priced !== undefined) return { service_tier: priced }
  if (tier === undefined) return {}
  if (tier === 'standard' || tier === 'standard_only') return { service_tier: 'default' }
  if (SERVICE_TIERS.has(tier)) return { service_tier: tier }
  warnings.push(lost('serviceTier', 'this format has no such service tier'))
  return {}
}

/** The tools to offer a provider; empty if there are none. Throws if the tool choice can't be met. */
export function offeredTools({ tools, toolChoice }: ChatRequest, canRestrict: boolean): readonly Tool[] {
  if (tools.length === 0) {
    if (toolChoice?.type === 'required' || toolChoice?.type === 'tool')
      throw invalidRequest('A tool call is required, but the request has no tools')
    return tools
  }
  const names = toolChoice && 'names' in toolChoice ? toolChoice.names : undefined
  const offered = names === undefined || canRestrict ? tools : tools.filter((tool) => names.includes(tool.name))
  if (offered.length === 0) throw invalidRequest('None of the allowed tools is among the tools')
  return offered
}

type PartEncoders = {
  text(text: string): JsonObject
  image(block: ImageBlock): JsonObject
  file(block: FileBlock): JsonObject[]
}

/** The parts of a user block; the last one gets the hint from `hintOf`. Throws `invalid_request` if no format can express it. */
export function encodeParts(
  block: ContentBlock,
  encoders: PartEncoders,
  hintOf: (hint: CacheHint | undefined) => JsonObject,
): JsonObject[] {
  const parts = encodeBlock(block, encoders)
  const last = parts.at(-1)
  // A block may become several parts; a cache hint covers everything before it.
  if (last && 'cache' in block) Object.assign(last, hintOf(block.cache))
  return parts
}

function encodeBlock(block: ContentBlock, encoders: PartEncoders): JsonObject[] {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return block.text === '' ? [] : [encoders.text(block.text)]
    case 'image':
      return [encoders.image(block)]
    case 'file':
      return encoders.file(block)
    case 'audio': {
      const format = audioFormat(block.mediaType)
      if (!format) throw invalidRequest(`This model takes audio as wav or mp3, not ${shown(block.mediaType)}`)
      return [{ type: 'input_audio', input_audio: { data: block.data, format } }]
    }
    default:
      return []
  }
}

/** The error for a file id of another vendor. */
export function foreignFile(): GatewayError {
  return invalidRequest('This model cannot read a file that was uploaded elsewhere; send its content instead')
}

const MAX_SHOWN_CHARS = 60

function shown(value: string): string {
  return JSON.stringify(value.slice(0, MAX_SHOWN_CHARS))
}

/** Length of our cache keys; no provider accepts more than 64 characters. */
const KEY_CHARS = 40

/**
 * Quirk of a provider that caches by `prompt_cache_key`: callers without a key get one per account. Otherwise all callers would share a
 * cache, and `cached_tokens` would reveal other callers' prompts. Providers without that field may refuse it, so it is not sent to all.
 */
export const CACHE_KEY_QUIRK = 'account-cache-key'

/** A stable cache key, unique per account and `given`; undefined if none should be sent. */
export function cacheKeyOf(
  { accountId, quirks }: { accountId: string; quirks: ReadonlySet<string> },
  given: string | undefined,
): string | undefined {
  if (given === undefined && !quirks.has(CACHE_KEY_QUIRK)) return undefined
  return sha256Hex(`${accountId}\n${given ?? ''}`).slice(0, KEY_CHARS)
}

/** Arguments from the wire as JSON text; some clients and providers send an object instead. */
export function decodeArguments(given: JsonValue | undefined): string {
  if (typeof given === 'string') return given
  return isJsonObject(given) ? JSON.stringify(asWritten(given)) : ''
}

/** Arguments for the wire; `{}` if there are none, because clients and providers parse the text. */
export function encodeArguments(text: string): string {
  return text.trim() === '' ? '{}' : text
}

const DIGEST_CHARS = 12

/** `id` if it matches `accepted`, else its first `keptChars` and a digest. Always the same, so that results match their calls. */
export function fitToolId(id: string, accepted: RegExp, keptChars: number): string {
  if (accepted.test(id)) return id
  const kept = id.slice(0, keptChars).replaceAll(/[^A-Za-z0-9_-]/g, '_') || 'call'
  return `${kept}_${sha256Hex(id).slice(0, DIGEST_CHARS)}`
}

/** Returns a function that encodes ids and appends a number to repeated ids. */
export function createNumberedIds(encodeToolId: (id: string) => string): (id: string) => string {
  const occurrences = new Map<string, number>()
  return (id) => {
    const count = (occurrences.get(id) ?? 0) + 1
    occurrences.set(id, count)
    return encodeToolId(count === 1 ? id : `${id}#${count}`)
  }
}

/** All tool results between the assistant turn at `index` and the next one. */
export function resultsAfter(turns: readonly Turn[], index: number): ToolResultBlock[] {
  const results: ToolResultBlock[] = []
  for (let next = index + 1; next < turns.length && turns[next]?.role !== 'assistant'; next++) {
    for (const block of turns[next]?.content ?? []) if (block.type === 'tool-result') results.push(block)
  }
  return results
}

/** The largest budgets that count as low and medium effort, between Google's 1k, 8k and 24k. */
const LOW_EFFORT_MAX_TOKENS = 4096
const MEDIUM_EFFORT_MAX_TOKENS = 16_384

/** The effort for a thinking budget; undefined if the model decides. */
export function effortOfBudget(budgetTokens: number | undefined): Effort | undefined {
  if (budgetTokens === undefined || budgetTokens < 0) return undefined
  if (budgetTokens === 0) return 'none'
  if (budgetTokens <= LOW_EFFORT_MAX_TOKENS) return 'low'
  return budgetTokens <= MEDIUM_EFFORT_MAX_TOKENS ? 'medium' : 'high'
}

/** The output shape for a schema in a request of either format. */
export function schemaOutput({ schema, name, description, strict }: JsonObject & { schema: JsonObject }): OutputShape {
  return {
    type: 'json-schema',
    schema: asWritten(schema),
    ...(typeof name === 'string' && { name }),
    ...(typeof description === 'string' && { description }),
    ...(typeof strict === 'boolean' && { strict }),
  }
}

/** A schema name with only allowed characters. */
export function schemaName(name: string | undefined): string {
  return (name ?? '').replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'response'
}

/** `value` limited to the field's range. */
export function clamped(value: number | undefined, range: { minimum: number; maximum: number }): number | undefined {
  return value === undefined ? undefined : Math.min(range.maximum, Math.max(range.minimum, value))
}

/** The limit of output tokens, from `minimum` to the model's own; undefined if the caller sets none. */
export function outputLimit(
  { maxOutputTokens: wanted }: ChatRequest,
  traits: TargetTraits,
  minimum: number,
  warnings: Warning[],
): number | undefined {
  if (wanted === undefined) return undefined
  const limit = Math.max(minimum, Math.min(wanted, traits.maxOutputTokens))
  if (limit !== wanted) warnings.push({ feature: 'max-output-tokens', detail: `changed from ${wanted} to ${limit}` })
  return limit
}

/** The blocks of a text, or of parts decoded by `decodePart`, without empty texts. `param` names the content in errors. */
export function decodeParts<Part>(
  content: string | readonly Part[] | null | undefined,
  param: string,
  decodePart: (part: Part, param: string) => PartBlock[],
): PartBlock[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return content.flatMap((part, index) => decodePart(part, `${param}[${index}]`))
}

/** `blocks` as texts, for roles that only allow text; other blocks are refused, since they would be lost. */
export function onlyTexts(blocks: readonly PartBlock[], param: string): TextBlock[] {
  return blocks.map((block, index) => {
    if (block.type !== 'text') throw invalidRequest(`${param}[${index}] must be a text part for this role`, param)
    return block
  })
}

/** `blocks` as a call's result. Services refuse a cache hint inside a result, so it moves to the result as a whole. */
export function resultOf(blocks: readonly PartBlock[]): Pick<ToolResultBlock, 'content' | 'cache'> {
  const cache = blocks.findLast((block) => 'cache' in block && block.cache)
  return {
    content: blocks.map((block): ResultBlock => {
      if (block.type === 'refusal') return { type: 'text', text: block.text }
      const { cache: _, ...content } = block
      return content
    }),
    ...(cache && 'cache' in cache && { cache: cache.cache }),
  }
}

/** The error for a part of unknown type, whose cost is therefore unknown. */
export function unknownPart(param: string, type: string, known: string): GatewayError {
  return invalidRequest(`${param} is of type ${shown(type)}, which is not known here: use ${known}`, `${param}.type`)
}

/** The error for a part without a required field. */
export function missing(param: string): GatewayError {
  return invalidRequest(`${param} is required`, param)
}
