/** A request of the hub as a messages request, for callers of the other formats. */
import { invalidRequest } from '@/chat/error'
import { lacking } from '@/chat/features'
import type { ChatRequest } from '@/chat/request'
import type { EncodedRequest, TargetTraits } from '@/formats/format'
import { LACKING } from '@/formats/messages/body-fields'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { encodeCache, limitBreakpoints } from './encode-cache'
import { encodeOutput } from './encode-output'
import { encodeReasoning, type ThinkingObstacles } from './encode-reasoning'
import { encodeSampling } from './encode-sampling'
import { encodeTools } from './encode-tools'
import { encodeTurns, type Message } from './encode-turns'

/** Reads the quirks of `quirks.ts`. Throws a GatewayError `invalid_request` where leaving something out would change the meaning. */
export function encodeRequest(request: ChatRequest, traits: TargetTraits): EncodedRequest {
  refuseUnsayable(request)
  const warnings = lacking(request, LACKING)
  const maxTokens = Math.min(request.maxOutputTokens ?? traits.maxOutputTokens, traits.maxOutputTokens)
  const { tools, toolChoice, isForced, instruction } = encodeTools(request, traits, warnings)
  const output = encodeOutput(request.output, traits, warnings)
  const system = encodeSystem(request, [output.instruction, instruction])
  const messages = encodeTurns(request.turns, traits, warnings)
  const obstacles = findObstacles(messages, isForced)
  const { thinking, effort } = encodeReasoning(request.reasoning, traits, maxTokens, obstacles, warnings)
  const config = { ...(effort !== undefined && { effort }), ...(output.format && { format: output.format }) }
  if (limitBreakpoints([...tools, ...system, ...messages.flatMap((message) => message.content)]) > 0) {
    warnings.push({ feature: 'cache_control', detail: 'the earliest cache hints were left out: four are the most' })
  }
  const body: JsonObject = {
    ...request.extensions.messages,
    model: traits.model,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system: system.every(isPlainText) ? joinTexts(system) : system }),
    messages: messages.map(({ role, content }) => ({ role, content: simplify(content) })),
    ...(tools.length > 0 && { tools }),
    ...(toolChoice && { tool_choice: toolChoice }),
    ...encodeSampling(request.sampling, traits, isThinking(thinking), warnings),
    ...(thinking && { thinking }),
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...(request.userId !== undefined && { metadata: { user_id: request.userId } }),
    ...(isStandard(request.serviceTier) && { service_tier: 'standard_only' }),
    ...(request.stream && { stream: true }),
  }
  return { body, warnings }
}

function refuseUnsayable(request: ChatRequest): void {
  const [first] = request.nativeOnly ?? []
  if (first !== undefined) throw invalidRequest(`this model's provider can't take ${first}`, first.split(' ')[0])
  if (request.choices !== 1) throw invalidRequest('n (candidateCount) must be 1 for this model', 'n')
}

function encodeSystem(request: ChatRequest, instructions: readonly (string | undefined)[]): JsonObject[] {
  const blocks: JsonObject[] = request.system
    .filter((block) => block.text.trim() !== '')
    .map((block) => ({ type: 'text', text: block.text, ...encodeCache(block.cache) }))
  for (const text of instructions) if (text !== undefined) blocks.push({ type: 'text', text })
  return blocks
}

function isPlainText(block: JsonObject): boolean {
  return block.type === 'text' && block.cache_control === undefined
}

function joinTexts(blocks: readonly JsonObject[]): string {
  return blocks.map((block) => block.text).join('\n\n')
}

/** One plain text as a string, which every backend of this format takes; anything else stays an array. */
function simplify(content: JsonObject[]): JsonValue {
  return content.length === 1 && content.every(isPlainText) ? joinTexts(content) : content
}

/** Why the API would refuse thinking beside these messages, if it would. */
function findObstacles(messages: readonly Message[], isForced: boolean): ThinkingObstacles {
  if (isForced) return { any: 'a forced tool call excludes thinking' }
  const last = messages.at(-1)
  if (last?.role === 'assistant') return { any: 'the continuation of an assistant message excludes thinking' }
  const isToolLoop = last?.content.some((block) => block.type === 'tool_result')
  const first = messages.findLast((message) => message.role === 'assistant')?.content[0]
  if (!isToolLoop || first?.type === 'thinking' || first?.type === 'redacted_thinking') return {}
  return { budget: "the tool loop began without this provider's thinking" }
}

function isThinking(thinking: JsonValue | undefined): boolean {
  return isJsonObject(thinking) && thinking.type !== 'disabled'
}

/** Standard capacity at the standard price, in the words of any format. Of other tiers this one knows none. */
function isStandard(tier: string | undefined): boolean {
  return tier === 'standard_only' || tier === 'standard' || tier === 'default'
}
