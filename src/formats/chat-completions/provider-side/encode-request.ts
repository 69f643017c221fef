/** A request of the hub as a chat-completions request, for callers of the other formats. */
import { invalidRequest } from '@/chat/error'
import { lacking } from '@/chat/features'
import type { ChatRequest, TextBlock, Warning } from '@/chat/request'
import { cacheKeyOf } from '@/formats/cache-key'
import { LACKING } from '@/formats/chat-completions/body-fields'
import { LIMITS } from '@/formats/chat-completions/limits'
import { QUIRKS } from '@/formats/chat-completions/quirks'
import { isClientMark } from '@/formats/client-marks'
import type { EncodedRequest, TargetTraits } from '@/formats/format'
import { encodeServiceTier, encodeUserId } from '@/formats/openai'
import type { JsonObject } from '@/lib/json'
import { encodeCache, limitBreakpoints } from './encode-cache'
import { textPart } from './encode-content'
import { encodeOutput, withMentionOfJson } from './encode-output'
import { encodeReasoning } from './encode-reasoning'
import { encodeSampling } from './encode-sampling'
import { encodeTools } from './encode-tools'
import { encodeTurns } from './encode-turns'

/** Reads the quirks of `quirks.ts`. Throws a GatewayError `invalid_request` where leaving something out would change the meaning. */
export function encodeRequest(request: ChatRequest, traits: TargetTraits): EncodedRequest {
  const [native] = request.nativeOnly ?? []
  if (native !== undefined) throw invalidRequest(`This model cannot take ${native}`, native.split(' ')[0])
  const warnings = lacking(request, LACKING, traits.quirks.has(QUIRKS.cacheControl) ? 'cacheHints' : undefined)
  const messages = [...encodeSystem(request.system, traits.quirks), ...encodeTurns(request.turns, traits, warnings)]
  const tools = encodeTools(request, traits)
  if (limitBreakpoints(tools.tools ?? [], messages) > 0) {
    warnings.push({ feature: 'cache_control', detail: 'the earliest cache hints were left out: four are the most' })
  }
  const cacheKey = cacheKeyOf(traits, request.cacheKey)
  const body: JsonObject = {
    ...request.extensions['chat-completions'],
    model: traits.model,
    messages: request.output.type === 'json' ? withMentionOfJson(messages) : messages,
    ...encodeStream(request, traits),
    ...encodeOutputLimit(request, traits, warnings),
    ...encodeSampling(request, traits, warnings),
    ...(request.choices > 1 && { n: request.choices }),
    ...encodeOutput(request.output),
    ...(request.verbosity !== undefined && { verbosity: request.verbosity }),
    ...encodeReasoning(request.reasoning, traits, warnings),
    ...tools,
    ...(request.userId !== undefined && { user: encodeUserId(request.userId) }),
    ...(cacheKey !== undefined && { prompt_cache_key: cacheKey }),
    ...encodeServiceTier(request.serviceTier, warnings),
  }
  return { body, warnings }
}

function encodeSystem(system: readonly TextBlock[], quirks: ReadonlySet<string>): JsonObject[] {
  const blocks = system.filter(({ text }) => text !== '' && !isClientMark(text))
  if (blocks.length === 0) return []
  const parts = blocks.map(({ text, cache }) => textPart(text, encodeCache(cache, quirks)))
  const isMarked = parts.some((part) => part.cache_control !== undefined) && !quirks.has(QUIRKS.stringContent)
  return [{ role: 'system', content: isMarked ? parts : blocks.map(({ text }) => text).join('\n\n') }]
}

/** Usage is always asked for: it is what the answer is paid by. */
function encodeStream(request: ChatRequest, traits: TargetTraits): JsonObject {
  if (!request.stream) return {}
  if (traits.quirks.has(QUIRKS.noStreamOptions)) return { stream: true }
  return { stream: true, stream_options: { include_usage: true } }
}

function encodeOutputLimit(request: ChatRequest, traits: TargetTraits, warnings: Warning[]): JsonObject {
  const { maxOutputTokens: wanted } = request
  if (wanted === undefined) return {}
  const limit = Math.max(LIMITS.outputTokens.minimum, Math.min(wanted, traits.maxOutputTokens))
  if (limit !== wanted) warnings.push({ feature: 'max-output-tokens', detail: `changed from ${wanted} to ${limit}` })
  return { [traits.quirks.has(QUIRKS.maxTokens) ? 'max_tokens' : 'max_completion_tokens']: limit }
}
