/** A generate-content request as the hub has it. */
import { invalidRequest } from '@/chat/error'
import type { ChatRequest, OutputShape, Sampling } from '@/chat/request'
import type { RequestLine } from '@/formats/format'
import { normaliseCountTokens, normaliseRequest } from '@/formats/generate-content/normalise'
import { decodeThinkingConfig } from '@/formats/generate-content/reasoning'
import { fromOpenApiSchema } from '@/formats/generate-content/schema'
import { decodeToolConfig, decodeTools } from '@/formats/generate-content/tools'
import { GenerationConfig, type WireGenerationConfig, type WireRequest } from '@/formats/generate-content/wire'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { checkCountTokens, checkRequest } from './check-request'
import { decodeContents, decodeSystemInstruction } from './decode-turns'
import { listNativeOnly } from './native-only'
import { modelOfResource } from './path'

/**
 * `line` holds the model and whether to stream, which this format says in the path. Throws a GatewayError `invalid_request`
 * that names the field and the limit it breaks. Never changes `body`.
 */
export function decodeRequest(body: JsonObject, line: RequestLine): ChatRequest {
  return decodeChecked(checkRequest(normaliseRequest(body)), line)
}

/** This format names the model in the path, of which there is none where a body stands alone. */
export function decodeLoneBody({ model, ...body }: JsonObject): ChatRequest {
  if (typeof model !== 'string') throw invalidRequest('model must be a string', 'model')
  return decodeRequest(body, { model: modelOfResource(model), stream: false })
}

/** The request whose input `:countTokens` asks about: `{contents}` or `{generateContentRequest}`. Throws as above. */
export function decodeCountTokens(body: JsonObject, line: RequestLine): ChatRequest {
  const { generateContentRequest, ...plain } = checkCountTokens(normaliseCountTokens(body))
  if (generateContentRequest && plain.contents) {
    throw invalidRequest('send contents or generateContentRequest, not both', 'generateContentRequest')
  }
  return decodeChecked(generateContentRequest ?? checkRequest(plain), line)
}

function decodeChecked(wire: WireRequest, line: RequestLine): ChatRequest {
  if (!line.model) throw invalidRequest('the path must name a model', 'model')
  const config = wire.generationConfig ?? {}
  const { functions, builtIn } = decodeTools(wire.tools)
  const toolChoice = decodeToolConfig(wire.toolConfig)
  const reasoning = decodeThinkingConfig(config.thinkingConfig)
  const extensions = decodeExtensions(wire, builtIn)
  const nativeOnly = listNativeOnly(wire)
  const turns = decodeContents(wire.contents)
  if (turns.length === 0 && nativeOnly.length === 0)
    throw invalidRequest('contents must hold at least one part', 'contents')
  return {
    model: line.model,
    stream: line.stream ?? false,
    system: decodeSystemInstruction(wire.systemInstruction?.parts),
    turns,
    tools: functions,
    ...(toolChoice && { toolChoice }),
    sampling: decodeSampling(config),
    ...(config.maxOutputTokens !== undefined && { maxOutputTokens: config.maxOutputTokens }),
    choices: config.candidateCount ?? 1,
    ...(reasoning && { reasoning }),
    output: decodeOutput(config),
    ...(wire.serviceTier !== undefined && { serviceTier: wire.serviceTier }),
    fallback: wire.fallback ?? [],
    wantsUsage: true,
    ...(nativeOnly.length > 0 && { nativeOnly }),
    extensions: Object.keys(extensions).length > 0 ? { 'generate-content': extensions } : {},
  }
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

/** A schema without a media type means JSON; beside another media type it is this format's own affair. */
function decodeOutput({ responseMimeType, responseSchema, responseJsonSchema }: WireGenerationConfig): OutputShape {
  const isText = responseMimeType !== undefined && responseMimeType !== 'application/json'
  if (isText) return { type: 'text' }
  if (isJsonObject(responseJsonSchema)) return { type: 'json-schema', schema: responseJsonSchema }
  if (responseSchema) return { type: 'json-schema', schema: fromOpenApiSchema(responseSchema) }
  return responseMimeType === 'application/json' ? { type: 'json' } : { type: 'text' }
}

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  'contents',
  'systemInstruction',
  'generationConfig',
  'tools',
  'toolConfig',
  'serviceTier',
  'fallback',
])

const KNOWN_CONFIG: ReadonlySet<string> = new Set(Object.keys(GenerationConfig.properties))

/** What only this format can say: fields of the top level, of generationConfig, and tools that are no functions. */
function decodeExtensions(wire: JsonObject, builtInTools: JsonValue[]): JsonObject {
  const config = isJsonObject(wire.generationConfig) ? without(wire.generationConfig, KNOWN_CONFIG) : {}
  return {
    ...without(wire, KNOWN_FIELDS),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
    ...(builtInTools.length > 0 && { tools: builtInTools }),
  }
}

function without(object: JsonObject, known: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key, value]) => !known.has(key) && value !== undefined))
}
