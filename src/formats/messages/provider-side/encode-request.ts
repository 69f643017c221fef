import { invalidRequest } from '@/chat/error'
import { lacking, lost } from '@/chat/features'
import type { ChatRequest, Feature, OutputShape, Reasoning, Sampling, Warning } from '@/chat/request'
import type { EncodedRequest, TargetTraits } from '@/formats/format'
import { LACKING } from '@/formats/messages/body-fields'
import { LIMITS } from '@/formats/messages/limits'
import { QUIRKS } from '@/formats/messages/provider'
import { BUDGET_OF_EFFORT, effortFor } from '@/formats/messages/thinking-effort'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { encodeCache, limitBreakpoints } from './encode-content'
import { encodeSchema } from './encode-schema'
import { encodeTools } from './encode-tools'
import { encodeTurns, type Message } from './encode-turns'

/** Encodes a messages request with the quirks of `provider.ts`. Throws `invalid_request` if an omission would change the meaning. */
export function encodeRequest(request: ChatRequest, traits: TargetTraits): EncodedRequest {
  refuseUnsayable(request)
  const { serviceTier } = traits
  const warnings = lacking(request, LACKING, serviceTier === undefined ? undefined : 'serviceTier')
  const maxTokens = Math.min(request.maxOutputTokens ?? traits.maxOutputTokens, traits.maxOutputTokens)
  const { tools, toolChoice, isForced, instruction } = encodeTools(request, traits, warnings)
  const output = encodeOutput(request.output, traits, warnings)
  const system = encodeSystem(request, [output.instruction, instruction])
  const messages = encodeTurns(request.turns, traits, warnings)
  const obstacles = findObstacles(messages, isForced)
  const { thinking, effort } = encodeReasoning(request.reasoning, traits, maxTokens, obstacles, warnings)
  const config = { ...(effort !== undefined && { effort }), ...(output.format && { format: output.format }) }
  if (limitBreakpoints([...tools, ...system, ...messages.flatMap((message) => message.content)]) > 0) {
    warnings.push({ feature: 'cache_control', detail: 'the earliest cache hints were omitted: the maximum is four' })
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
    ...(serviceTier !== undefined && { service_tier: serviceTier }),
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

/** A single plain text becomes a string, which every backend accepts; other content stays an array. */
function simplify(content: JsonObject[]): JsonValue {
  return content.length === 1 && content.every(isPlainText) ? joinTexts(content) : content
}

/** The reasons why the API would refuse thinking with these messages; empty if it would not. */
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

/** Whether a tier, in any format's spelling, is the standard one. This format has no other priced tier. */
function isStandard(tier: string | undefined): boolean {
  return tier === 'standard_only' || tier === 'standard' || tier === 'default'
}

type EncodedOutput = { format?: JsonObject; instruction?: string }

const JSON_INSTRUCTION =
  'Answer with one valid JSON object and nothing else: no explanation before or after it and no code fence around it.'

/**
 * The output shape. A schema becomes `output_config.format`, or an instruction for models without that field (quirk `no-output-format`).
 * JSON without a schema becomes an instruction. A forced tool would change the content and could not be streamed as text.
 */
function encodeOutput(output: OutputShape, traits: TargetTraits, warnings: Warning[]): EncodedOutput {
  if (output.type === 'text') return {}
  if (output.type === 'json') {
    warnings.push({ feature: 'output', detail: 'JSON mode became an instruction' })
    return { instruction: JSON_INSTRUCTION }
  }
  if (traits.quirks.has(QUIRKS.noOutputFormat)) {
    warnings.push({ feature: 'output', detail: 'the JSON schema became an instruction' })
    const about = output.description === undefined ? '' : ` (${output.description})`
    return {
      instruction: `${JSON_INSTRUCTION} It must follow this JSON Schema${about}:\n${JSON.stringify(output.schema)}`,
    }
  }
  return { format: { type: 'json_schema', schema: encodeSchema(output.schema) } }
}

const MAX_TEMPERATURE = LIMITS.temperature.maximum
/** The lowest top_p that the API accepts with thinking. */
const MIN_TOP_P_WITH_THINKING = 0.95

function encodeSampling(
  sampling: Sampling,
  traits: TargetTraits,
  isThinking: boolean,
  warnings: Warning[],
): JsonObject {
  return { ...encodeStop(sampling.stop, warnings), ...encodeRandomness(sampling, traits, isThinking, warnings) }
}

/** The API refuses blank stop sequences. */
function encodeStop(stop: string[] | undefined, warnings: Warning[]): JsonObject {
  if (!stop) return {}
  const kept = stop.filter((sequence) => sequence.trim() !== '')
  if (kept.length < stop.length) {
    warnings.push(lost('stop', 'stop sequences of only white space were omitted'))
  }
  return kept.length > 0 ? { stop_sequences: kept } : {}
}

function encodeRandomness(
  sampling: Sampling,
  traits: TargetTraits,
  isThinking: boolean,
  warnings: Warning[],
): JsonObject {
  const { temperature, topP, topK } = sampling
  function drop(feature: Feature, value: number | undefined, detail: string): undefined {
    if (value !== undefined) warnings.push(lost(feature, detail))
    return undefined
  }
  if (traits.quirks.has(QUIRKS.noSampling) || isThinking) {
    const why = isThinking ? 'not possible beside thinking' : 'the model takes no sampling parameters'
    const keepsTopP = !traits.quirks.has(QUIRKS.noSampling) && topP !== undefined && topP >= MIN_TOP_P_WITH_THINKING
    drop('temperature', temperature === 1 ? undefined : temperature, why)
    drop('topK', topK, why)
    if (!keepsTopP) drop('topP', topP, why)
    return keepsTopP ? { top_p: topP } : {}
  }
  if (temperature !== undefined && temperature > MAX_TEMPERATURE) {
    warnings.push({ feature: 'temperature', detail: `clamped to ${MAX_TEMPERATURE}` })
  }
  const isBoth = temperature !== undefined && topP !== undefined && traits.quirks.has(QUIRKS.temperatureOrTopP)
  const keptTopP = isBoth ? drop('topP', topP, 'the model takes temperature or top_p, not both') : topP
  return {
    ...(temperature !== undefined && { temperature: Math.min(temperature, MAX_TEMPERATURE) }),
    ...(keptTopP !== undefined && { top_p: keptTopP }),
    ...(topK !== undefined && { top_k: topK }),
  }
}

const MIN_BUDGET = LIMITS.thinkingBudget.minimum
/** Maximum share of the output limit that an effort's thinking budget may take, so that the answer has room. */
const MAX_SHARE_OF_EFFORT = 0.8
const DEFAULT_EFFORT = 'medium'

type EncodedReasoning = { thinking?: JsonObject; effort?: string }

type ThinkingObstacles = { any?: string; budget?: string }

/**
 * Uses the quirks `noThinking`, `adaptiveThinking` and `alwaysThinking`. Thinking is omitted, with a warning, if the API would refuse it.
 * The API refuses it with a forced tool call or a too small output limit. It also refuses it in a continued assistant turn, and in a tool
 * loop that began without signed thinking.
 */
function encodeReasoning(
  reasoning: Reasoning | undefined,
  traits: TargetTraits,
  maxTokens: number,
  obstacles: ThinkingObstacles,
  warnings: Warning[],
): EncodedReasoning {
  if (!reasoning) return {}
  const isOff = reasoning.effort === 'none' || reasoning.budgetTokens === 0
  if (traits.quirks.has(QUIRKS.noThinking)) {
    if (!isOff) warnings.push(lost('reasoning', 'the model has no thinking'))
    return {}
  }
  if (isOff && traits.quirks.has(QUIRKS.alwaysThinking)) {
    warnings.push({ feature: 'reasoning', detail: 'the model always thinks: the least effort was asked for' })
    return { effort: 'low' }
  }
  if (isOff) return { thinking: { type: 'disabled' } }
  if (traits.quirks.has(QUIRKS.adaptiveThinking)) return encodeAdaptive(reasoning, obstacles.any, warnings)
  const budget = budgetFor(reasoning, maxTokens)
  const tooSmall = budget < MIN_BUDGET ? `the output limit leaves less than ${MIN_BUDGET} tokens` : undefined
  const obstacle = obstacles.any ?? obstacles.budget ?? tooSmall
  if (obstacle) {
    warnings.push(lost('reasoning', obstacle))
    return {}
  }
  return { thinking: { type: 'enabled', budget_tokens: budget } }
}

function encodeAdaptive(reasoning: Reasoning, obstacle: string | undefined, warnings: Warning[]): EncodedReasoning {
  const effort = effortFor(reasoning)
  if (obstacle) {
    warnings.push({ feature: 'reasoning', detail: obstacle })
    return { effort }
  }
  const display = reasoning.visible === undefined ? {} : { display: reasoning.visible ? 'summarized' : 'omitted' }
  return { thinking: { type: 'adaptive', ...display }, effort }
}

/** Keeps a caller's budget between the API's minimum and the output limit. A budget from an effort leaves room for the answer. */
function budgetFor({ effort, budgetTokens }: Reasoning, maxTokens: number): number {
  if (budgetTokens !== undefined && budgetTokens > 0) return Math.min(Math.max(budgetTokens, MIN_BUDGET), maxTokens - 1)
  const named = !effort || effort === 'none' ? DEFAULT_EFFORT : effort
  return Math.min(BUDGET_OF_EFFORT[named], Math.floor(maxTokens * MAX_SHARE_OF_EFFORT))
}
