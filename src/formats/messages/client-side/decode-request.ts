/** A messages request as a request of the hub, every field checked against its limit. */
import type { ChatRequest, Turn } from '@/chat/request'
import { judgeFields, withUnlisted } from '@/formats/body-fields'
import { BODY_FIELDS, NESTED_FIELDS } from '@/formats/messages/body-fields'
import { listServerTools } from '@/formats/messages/server-tools'
import { unlistedInside } from '@/formats/nested-fields'
import { readPreferences } from '@/formats/preferences'
import type { JsonObject } from '@/lib/json'
import { checkRequest } from './check-request'
import { decodeCache } from './decode-cache'
import { decodeOutput } from './decode-output'
import { decodeReasoning } from './decode-reasoning'
import { decodeSampling } from './decode-sampling'
import { decodeToolChoice, decodeTools } from './decode-tools'
import { decodeSystem, decodeTurns } from './decode-turns'
import { listHostedHistory, listNativeMedia, listNativeOnly } from './native-only'
import type { WireCountRequest } from './wire'

/** Throws a GatewayError `invalid_request` that names the field and the limit it breaks. Never changes `body`. */
export function decodeRequest(body: JsonObject): ChatRequest {
  const wire = checkRequest(body)
  return {
    ...decodeChecked(wire, body),
    stream: wire.stream ?? false,
    sampling: decodeSampling(wire),
    maxOutputTokens: wire.max_tokens,
    userId: wire.metadata?.user_id ?? undefined,
    serviceTier: wire.service_tier,
  }
}

/** What a request and a question for its tokens have in common, once checked. */
export function decodeChecked(wire: WireCountRequest, body: JsonObject): ChatRequest {
  const { system, turns } = decodeTurns(wire.messages)
  const nativeOnly = listNativeOnly(wire, body)
  const hostedHistory = listHostedHistory(wire)
  const nativeMedia = listNativeMedia(wire)
  const serverTools = listServerTools(wire.tools ?? [])
  markLastBlock(turns, decodeCache(wire.cache_control))
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
    fallback: wire.fallback ?? [],
    ...readPreferences(wire.svc),
    wantsUsage: true,
    extensions: { messages: decodeExtensions(body) },
    ...(nativeOnly.length > 0 && { nativeOnly }),
    ...(hostedHistory.length > 0 && { hostedHistory }),
    ...(nativeMedia.length > 0 && { nativeMedia }),
    ...(serverTools.length > 0 && { serverTools }),
    ...withUnlisted(judgeFields(body, BODY_FIELDS, 'messages'), unlistedInside(body, NESTED_FIELDS)),
  }
}

function decodeParallelCalls(choice: WireCountRequest['tool_choice']): boolean | undefined {
  if (!choice || choice.type === 'none' || choice.disable_parallel_tool_use === undefined) return undefined
  return !choice.disable_parallel_tool_use
}

/** Built by fromEntries, which defines own properties, so that a field named `__proto__` stays a field. */
function decodeExtensions(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([field]) => BODY_FIELDS.get(field)?.kind !== 'hub'))
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
