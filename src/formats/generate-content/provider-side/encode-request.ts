import { invalidRequest } from '@/chat/error'
import { lacking, lost } from '@/chat/features'
import type { ChatRequest, Effort, OutputShape, PicturesAsked, Reasoning, TextBlock, Warning } from '@/chat/request'
import { isClientMark } from '@/formats/client-marks'
import type { EncodedRequest, TargetTraits } from '@/formats/format'
import { LACKING } from '@/formats/generate-content/body-fields'
import { LIMITS } from '@/formats/generate-content/limits'
import { QUIRKS } from '@/formats/generate-content/provider'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { encodeSchema } from './encode-schema'
import { encodeToolChoice, encodeTools } from './encode-tools'
import { encodeTurns } from './encode-turns'
import { type SchemaBudget, schemaBudget } from './schema-budget'

/** Encodes a generate-content request with the quirks of `provider.ts`. Throws `invalid_request` if an omission changes the meaning. */
export function encodeRequest(request: ChatRequest, traits: TargetTraits): EncodedRequest {
  const [native] = request.nativeOnly ?? []
  if (native !== undefined)
    throw invalidRequest(`the provider of this model can't take ${native}`, native.split(' ')[0])
  const { serviceTier } = traits
  const warnings = lacking(request, LACKING, serviceTier === undefined ? undefined : 'serviceTier')
  const system = request.system.filter(({ text }) => text !== '' && !isClientMark(text))
  const contents = encodeTurns(request.turns, traits, warnings)
  const { generationConfig: ownConfig, tools: _, ...ownFields } = request.extensions['generate-content'] ?? {}
  refuseImpossibleCall(request)
  const budget = traits.quirks.has(QUIRKS.openApiSchema) ? schemaBudget(request) : undefined
  const tools = encodeTools(request.tools, budget)
  const toolConfig = tools && encodeToolChoice(request.toolChoice)
  const generationConfig = {
    ...(isJsonObject(ownConfig) && ownConfig),
    ...encodeGenerationConfig(request, traits, warnings, budget),
  }
  const isSystemAll = contents.length === 0
  const body = {
    ...ownFields,
    contents: isSystemAll ? [{ role: 'user', parts: encodeTexts(system) }] : contents,
    ...(system.length > 0 && !isSystemAll && { systemInstruction: { parts: encodeTexts(system) } }),
    ...(tools && { tools }),
    ...(toolConfig && { toolConfig }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...(serviceTier !== undefined && { serviceTier }),
  }
  if (isSystemAll && system.length === 0) throw invalidRequest('the conversation must have some content', 'messages')
  return { body, warnings }
}

/** Refuses a required call without tools. If the requirement were omitted, the model could answer with text. */
function refuseImpossibleCall({ tools, toolChoice }: ChatRequest): void {
  const isForced = toolChoice?.type === 'required' || toolChoice?.type === 'tool'
  if (isForced && tools.length === 0) throw invalidRequest('A tool call is required, but the request has no tools')
}

function encodeTexts(blocks: readonly TextBlock[]): JsonValue[] {
  return blocks.map(({ text }) => ({ text }))
}

function encodeGenerationConfig(
  request: ChatRequest,
  traits: TargetTraits,
  warnings: Warning[],
  budget: SchemaBudget | undefined,
): JsonObject {
  if (request.choices > LIMITS.candidates.maximum) {
    throw invalidRequest(`the provider of this model gives at most ${LIMITS.candidates.maximum} answers at once`, 'n')
  }
  const thinkingConfig = encodeReasoning(request.reasoning, traits, warnings)
  const limit = request.maxOutputTokens
  return {
    ...encodeSampling(request, warnings),
    ...(request.choices > 1 && { candidateCount: request.choices }),
    ...(limit !== undefined && { maxOutputTokens: Math.min(limit, traits.maxOutputTokens) }),
    ...encodeOutput(request.output, budget),
    ...(request.pictures && encodePictures(request.pictures)),
    ...(thinkingConfig && { thinkingConfig }),
  }
}

/** The generationConfig fields for the output shape. `budget` is set for providers that only support the schema subset. */
function encodeOutput(output: OutputShape, budget: SchemaBudget | undefined): JsonObject {
  switch (output.type) {
    case 'text':
      return {}
    case 'json':
      return { responseMimeType: 'application/json' }
    case 'json-schema':
      return budget
        ? { responseMimeType: 'application/json', responseSchema: encodeSchema(output.schema, budget) }
        : { responseMimeType: 'application/json', responseJsonSchema: output.schema }
  }
}

/** The generationConfig fields for pictures in answers. */
function encodePictures({ isOnly, aspectRatio, imageSize }: PicturesAsked): JsonObject {
  const imageConfig = {
    ...(aspectRatio !== undefined && { aspectRatio }),
    ...(imageSize !== undefined && { imageSize }),
  }
  return {
    responseModalities: isOnly ? ['IMAGE'] : ['TEXT', 'IMAGE'],
    ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
  }
}

/** The sampling fields of generationConfig. Throws `invalid_request` for too many stop sequences, unless losses are accepted. */
function encodeSampling(
  { sampling, preferences }: Pick<ChatRequest, 'sampling' | 'preferences'>,
  warnings: Warning[],
): JsonObject {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, seed, logprobs, topLogprobs } = sampling
  const stop = encodeStop(sampling.stop ?? [], preferences?.lossy === true, warnings)
  const isSeedKept = seed !== undefined && seed >= LIMITS.seed.minimum && seed <= LIMITS.seed.maximum
  if (seed !== undefined && !isSeedKept) warnings.push(lost('seed', 'only 32-bit seeds are possible'))
  return {
    ...(temperature !== undefined && { temperature: clamp(temperature, LIMITS.temperature) }),
    ...(topP !== undefined && { topP: clamp(topP, LIMITS.topP) }),
    ...(topK !== undefined && topK > 0 && { topK }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty: clamp(frequencyPenalty, PENALTY) }),
    ...(presencePenalty !== undefined && { presencePenalty: clamp(presencePenalty, PENALTY) }),
    ...(isSeedKept && { seed }),
    ...(logprobs && { responseLogprobs: true, ...(topLogprobs !== undefined && { logprobs: topLogprobs }) }),
    ...(stop.length > 0 && { stopSequences: stop }),
  }
}

/** Providers accept penalties from -2 to less than 2. */
const PENALTY = { minimum: LIMITS.penalty.minimum, maximum: 1.99 }

/** Without a stop sequence the answer would run on, so too many are refused. */
function encodeStop(stop: readonly string[], isLossy: boolean, warnings: Warning[]): string[] {
  const { maxItems } = LIMITS.stopSequences
  const kept = stop.filter((sequence) => sequence !== '')
  if (kept.length > maxItems) {
    if (!isLossy) throw invalidRequest(`the provider of this model takes at most ${maxItems} stop sequences`)
    warnings.push(lost('stop', `only the first ${maxItems} sequences are kept`))
  }
  return kept.slice(0, maxItems)
}

function clamp(value: number, { minimum, maximum }: { minimum: number; maximum: number }): number {
  return Math.min(Math.max(value, minimum), maximum)
}

/** A provider's thinkingConfig; undefined for the default. Uses the quirks `thinkingBudget` and `noThinking`. */
function encodeReasoning(
  reasoning: Reasoning | undefined,
  traits: TargetTraits,
  warnings: Warning[],
): JsonObject | undefined {
  if (!reasoning) return undefined
  if (traits.quirks.has(QUIRKS.noThinking)) {
    warnings.push(lost('reasoning', 'this model does not think'))
    return undefined
  }
  const config = {
    ...(traits.quirks.has(QUIRKS.thinkingBudget)
      ? encodeBudget(reasoning, warnings)
      : encodeLevel(reasoning, warnings)),
    ...(reasoning.visible && { includeThoughts: true }),
  }
  return Object.keys(config).length > 0 ? config : undefined
}

/** Based on Google's table: low 1K, medium 8K, high 24K. Minimal is the smallest budget that every model accepts. */
const BUDGET_OF_EFFORT: Record<Effort, number> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}
/** The largest budget that every model accepts. */
const MAX_BUDGET = BUDGET_OF_EFFORT.max

const LEVEL_OF_EFFORT: Record<Effort, string> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

function encodeBudget({ effort, budgetTokens }: Reasoning, warnings: Warning[]): JsonObject {
  const wanted = effort === 'none' ? 0 : (budgetTokens ?? (effort && BUDGET_OF_EFFORT[effort]))
  if (wanted === undefined) return {}
  if (wanted > MAX_BUDGET) warnings.push({ feature: 'reasoning.budgetTokens', detail: `lowered to ${MAX_BUDGET}` })
  return { thinkingBudget: Math.min(wanted, MAX_BUDGET) }
}

function encodeLevel({ effort, budgetTokens }: Reasoning, warnings: Warning[]): JsonObject {
  const wanted = effort ?? effortOfBudget(budgetTokens)
  if (wanted === undefined) return {}
  if (wanted === 'none')
    warnings.push({ feature: 'reasoning.effort', detail: 'this model cannot stop thinking; set to MINIMAL' })
  return { thinkingLevel: LEVEL_OF_EFFORT[wanted] }
}

/** The effort with the closest budget; undefined for a dynamic budget, which is the models' default. */
function effortOfBudget(budget: number | undefined): Effort | undefined {
  if (budget === undefined || budget < 0) return undefined
  if (budget === 0) return 'none'
  if (budget <= BUDGET_OF_EFFORT.minimal) return 'minimal'
  if (budget <= 4 * BUDGET_OF_EFFORT.low) return 'low'
  return budget <= 2 * BUDGET_OF_EFFORT.medium ? 'medium' : 'high'
}
