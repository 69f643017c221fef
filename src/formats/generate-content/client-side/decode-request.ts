/** Decodes a generate-content request into the hub. */

import { invalidRequest } from '@/chat/error'
import type { ChatRequest, Effort, PicturesAsked, Reasoning, Sampling } from '@/chat/request'
import { type FieldTable, type FieldVerdict, joinVerdicts, judgeFields, withInside } from '@/formats/body-fields'
import type { Recognition, RequestLine } from '@/formats/format'
import { BODY_FIELDS, CONFIG_FIELDS, NESTED_FIELDS } from '@/formats/generate-content/body-fields'
import { camelCase, normaliseCountTokens, normaliseRequest } from '@/formats/generate-content/normalise'
import { listServerTools } from '@/formats/generate-content/server-tools'
import { judgeInside } from '@/formats/nested-fields'
import { readRouting } from '@/formats/routing-words'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { answerFieldOf, decodeOutput } from './decode-schema'
import { decodeToolChoice, decodeTools } from './decode-tools'
import { decodeSystem, decodeTurns, withOpening } from './decode-turns'
import { modelOfResource } from './models'
import { listHostedHistory, listNativeMedia, listNativeOnly } from './native-only'
import {
  checkCountTokens,
  checkRequest,
  type WireGenerationConfig,
  type WireRequest,
  type WireThinkingConfig,
} from './wire'

const FIELD = 'generationConfig.thinkingConfig'

const EFFORT_OF_LEVEL: ReadonlyMap<string, Effort | undefined> = new Map([
  ['MINIMAL', 'minimal'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
  ['THINKING_LEVEL_UNSPECIFIED', undefined],
])

/** Throws `invalid_request` that names the field. `line`: model and stream, which this format has in the path. */
export function decodeRequest(body: JsonObject, line: RequestLine): ChatRequest {
  return decodeChecked(checkRequest(normaliseRequest(body)), line)
}

/** Decodes a body that contains the model, for endpoints without a model in the path. */
export function decodeLoneBody({ model, ...body }: JsonObject): ChatRequest {
  if (typeof model !== 'string') throw invalidRequest('model must be a string', 'model')
  return decodeRequest(body, { model: modelOfResource(model), stream: false })
}

function decodeChecked(wire: WireRequest, line: RequestLine): ChatRequest {
  if (!line.model) throw invalidRequest('the path must name a model', 'model')
  const config = wire.generationConfig ?? {}
  const { tools, others } = decodeTools(wire)
  const toolChoice = decodeToolChoice(wire.toolConfig)
  const reasoning = decodeReasoning(config.thinkingConfig)
  const extensions = decodeExtensions(wire, others)
  const nativeOnly = listNativeOnly(wire)
  const hostedHistory = listHostedHistory(wire)
  const nativeMedia = listNativeMedia(wire)
  const answerField = answerFieldOf(config)
  const pictures = decodePictures(config)
  const serverTools = listServerTools(wire.tools ?? [])
  const turns = decodeTurns(wire.contents)
  const { system, media } = decodeSystem(wire.systemInstruction?.parts)
  if (turns.length === 0 && nativeOnly.length === 0)
    throw invalidRequest('contents must contain at least one part', 'contents')
  return {
    model: line.model,
    stream: line.stream ?? false,
    system,
    turns: media.length > 0 ? withOpening(turns, media) : turns,
    tools,
    ...(toolChoice && { toolChoice }),
    sampling: decodeSampling(config),
    ...(config.maxOutputTokens !== undefined && { maxOutputTokens: config.maxOutputTokens }),
    choices: config.candidateCount ?? 1,
    ...(reasoning && { reasoning }),
    output: decodeOutput(config),
    ...(pictures && { pictures }),
    ...(answerField !== undefined && { answerField }),
    ...(wire.serviceTier !== undefined && { serviceTier: wire.serviceTier }),
    ...readRouting({
      fallback: wire.fallback,
      models: wire.models,
      svc: wire.svc,
      usage: wire.usage,
      provider: wire.provider,
    }),
    wantsUsage: true,
    ...(nativeOnly.length > 0 && { nativeOnly }),
    ...(hostedHistory.length > 0 && { hostedHistory }),
    ...(nativeMedia.length > 0 && { nativeMedia }),
    ...(serverTools.length > 0 && { serverTools }),
    ...judge(wire, config),
    extensions: Object.keys(extensions).length > 0 ? { 'generate-content': extensions } : {},
  }
}

/** The requested pictures. A shape or size alone also requests them. */
function decodePictures({ responseModalities, imageConfig }: WireGenerationConfig): PicturesAsked | undefined {
  const { aspectRatio, imageSize } = imageConfig ?? {}
  const shape = { ...(aspectRatio && { aspectRatio }), ...(imageSize && { imageSize }) }
  const isAsked = responseModalities?.includes('IMAGE')
  if (!isAsked && Object.keys(shape).length === 0) return undefined
  return isAsked && !responseModalities?.includes('TEXT') ? { isOnly: true, ...shape } : shape
}

function judge(wire: JsonObject, config: JsonObject): FieldVerdict {
  const inConfig = judgeFields(config, CONFIG_FIELDS, 'generate-content', 'generationConfig.')
  const verdict = joinVerdicts(judgeFields(wire, BODY_FIELDS, 'generate-content'), inConfig)
  return withInside(verdict, judgeInside(wire, NESTED_FIELDS, camelCase))
}

/** Fields that the hub lacks: of the top level, of generationConfig, and tools other than functions. */
function decodeExtensions(wire: JsonObject, builtInTools: JsonValue[]): JsonObject {
  const config = isJsonObject(wire.generationConfig) ? extrasOf(wire.generationConfig, CONFIG_FIELDS) : {}
  return {
    ...extrasOf(wire, BODY_FIELDS),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
    ...(builtInTools.length > 0 && { tools: builtInTools }),
  }
}

function extrasOf(object: JsonObject, table: FieldTable): JsonObject {
  const extras = Object.entries(object).filter(([key, value]) => table.get(key)?.kind !== 'hub' && value !== undefined)
  return Object.fromEntries(extras)
}

/** Throws a GatewayError `invalid_request` for an unknown level, and for level and budget together. */
function decodeReasoning(config: WireThinkingConfig | undefined): Reasoning | undefined {
  if (!config) return undefined
  const { includeThoughts, thinkingBudget, thinkingLevel } = config
  if (thinkingBudget !== undefined && thinkingLevel !== undefined) {
    throw invalidRequest(`${FIELD} must have thinkingBudget or thinkingLevel, not both`, FIELD)
  }
  const amount = thinkingLevel === undefined ? decodeBudget(thinkingBudget) : decodeLevel(thinkingLevel)
  return { ...amount, ...(includeThoughts !== undefined && { visible: includeThoughts }) }
}

function decodeBudget(budget: number | undefined): Reasoning {
  if (budget === undefined) return {}
  return budget === 0 ? { effort: 'none' } : { budgetTokens: budget }
}

/** Libraries send the level in upper and in lower case. */
function decodeLevel(level: string): Reasoning {
  const word = level.toUpperCase()
  if (!EFFORT_OF_LEVEL.has(word)) {
    const field = `${FIELD}.thinkingLevel`
    throw invalidRequest(`${field} must be one of MINIMAL, LOW, MEDIUM, HIGH`, field)
  }
  const effort = EFFORT_OF_LEVEL.get(word)
  return effort === undefined ? {} : { effort }
}

function decodeSampling(config: WireGenerationConfig): Sampling {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, seed } = config
  const { stopSequences, responseLogprobs, logprobs } = config
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && topK > 0 && { topK }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(seed !== undefined && { seed }),
    ...(stopSequences?.length && { stop: stopSequences }),
    ...(responseLogprobs !== undefined && { logprobs: responseLogprobs }),
    ...(logprobs !== undefined && { topLogprobs: logprobs }),
  }
}

const KEY_HEADER = 'x-goog-api-key'

/** Recognises a generate-content request by a beta version or verb in the path, by client headers, or by `contents`. */
export const recognition: Recognition = {
  headers: ['x-goog-api-client', KEY_HEADER],
  keyHeaders: ['x-provider3-api-key', KEY_HEADER],
  isOwnPath: (path) => /^\/v1(beta|alpha)/.test(path) || /(:|%3A)[A-Za-z]+\/?$/i.test(path),
  isOwnBody: (body) => 'contents' in body,
}

/** Decodes the body of `:countTokens`, which is `{contents}` or `{generateContentRequest}`. Throws like `decodeRequest`. */
export function decodeCountTokens(body: JsonObject, line: RequestLine): ChatRequest {
  const { generateContentRequest, ...plain } = checkCountTokens(normaliseCountTokens(body))
  if (generateContentRequest && plain.contents) {
    throw invalidRequest('send contents or generateContentRequest, not both', 'generateContentRequest')
  }
  return decodeChecked(generateContentRequest ?? checkRequest(plain), line)
}

/** `total` is our estimate of the request's input tokens, a non-negative integer. */
export function encodeCountTokens(total: number): JsonObject {
  return { totalTokens: total }
}
