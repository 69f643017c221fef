/** What OpenAI's two formats say alike: errors, blocks of a user turn, the end user, service tiers, and which tools are offered. */
import { type ErrorKind, type GatewayError, invalidRequest } from '@/chat/error'
import { lost } from '@/chat/features'
import type { CacheHint, ChatRequest, ContentBlock, FileBlock, ImageBlock, Tool, Warning } from '@/chat/request'
import { sha256Hex } from '@/lib/ids'
import type { JsonObject } from '@/lib/json'
import type { EncodedError } from './format'
import { audioFormat } from './media'

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

/** The error as status, body and headers. */
export function encodeError(error: GatewayError, requestId: string): EncodedError {
  const { retryAfterSeconds, headers } = error.options
  return {
    status: error.status,
    body: { error: encodeErrorBody(error) },
    headers: {
      ...headers,
      'x-request-id': requestId,
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(Math.max(0, Math.ceil(retryAfterSeconds))) }),
    },
  }
}

/** The object that tells the error. All four keys are always there, because client libraries read them. */
export function encodeErrorBody({ kind, message, options }: GatewayError): JsonObject {
  const { param, code, details } = options
  const words = WORDS_OF_KIND[kind]
  return { ...details, message, type: words.type, param: param ?? null, code: code ?? words.code }
}

/** OpenAI refuses longer ids; a digest still tells one end user from another. */
const MAX_USER_ID_CHARS = 64

/** The end user's id as the field takes it. */
export function encodeUserId(userId: string): string {
  return userId.length <= MAX_USER_ID_CHARS ? userId : sha256Hex(userId)
}

const SERVICE_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])

/** The field for a service tier, with a warning where there is none like it. */
export function encodeServiceTier(tier: string | undefined, warnings: Warning[]): JsonObject {
  if (tier === undefined) return {}
  if (tier === 'standard' || tier === 'standard_only') return { service_tier: 'default' }
  if (SERVICE_TIERS.has(tier)) return { service_tier: tier }
  warnings.push(lost('serviceTier', 'this format has no such service tier'))
  return {}
}

/** The tools that a request may use at a provider, none where it has none. Throws where its choice can't be met. */
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

/** What each of the two formats tells in its own way. */
type PartEncoders = {
  text(text: string): JsonObject
  image(block: ImageBlock): JsonObject
  file(block: FileBlock): JsonObject[]
}

/** The parts of one block of a user turn, the last with what `hintOf` makes of its cache hint. Throws a GatewayError `invalid_request` where neither format can say it. */
export function encodeParts(
  block: ContentBlock,
  encoders: PartEncoders,
  hintOf: (hint: CacheHint | undefined) => JsonObject,
): JsonObject[] {
  const parts = encodeBlock(block, encoders)
  const last = parts.at(-1)
  // One block may become several parts: a hint covers what stands before it.
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

/** The refusal of a file by whose id another vendor knows it. */
export function foreignFile(): GatewayError {
  return invalidRequest('This model cannot read a file that was uploaded elsewhere; send its content instead')
}

const MAX_SHOWN_CHARS = 60

function shown(value: string): string {
  return JSON.stringify(value.slice(0, MAX_SHOWN_CHARS))
}
