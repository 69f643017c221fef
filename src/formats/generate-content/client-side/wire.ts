/** The schema of normalised generate-content requests: known fields are typed, unknown ones kept. */

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { LIMITS } from '@/formats/generate-content/limits'
import { fallbackSchema, preferencesSchema } from '@/formats/preferences'
import { routingSchemas } from '@/formats/routing-words'
import { createRequestCheck } from '@/formats/schema-check'
import type { JsonObject, JsonValue } from '@/lib/json'
import { object, oneOf, titled } from '@/lib/schemas'

const AnyObject = Type.Unsafe<JsonObject>(Type.Object({}))
const AnyValue = Type.Unsafe<JsonValue>(Type.Unknown())
const NonEmptyString = Type.String({ minLength: 1 })

const InlineData = object({ mimeType: NonEmptyString, data: Type.String({ description: 'base64' }) })
const FileData = object({ fileUri: NonEmptyString, mimeType: optional(Type.String()) })

const FunctionCall = object({
  id: optional(Type.String()),
  name: NonEmptyString,
  args: optional(AnyObject),
})

const FunctionResponse = titled('GenerateContentFunctionResponse', {
  id: optional(Type.String()),
  name: optional(Type.String()),
  response: optional(AnyObject),
  parts: optional(Type.Array(object({ inlineData: optional(InlineData), fileData: optional(FileData) }), LIMITS.parts)),
})

const Part = titled('GenerateContentPart', {
  text: optional(Type.String()),
  thought: optional(Type.Boolean({ description: 'true marks the model’s reasoning' })),
  thoughtSignature: optional(Type.String({ description: 'base64; send it back unchanged' })),
  inlineData: optional(InlineData),
  fileData: optional(FileData),
  functionCall: optional(FunctionCall),
  functionResponse: optional(FunctionResponse),
  executableCode: optional(object({ language: optional(Type.String()), code: optional(Type.String()) })),
  codeExecutionResult: optional(object({ outcome: optional(Type.String()), output: optional(Type.String()) })),
})

const Content = titled('GenerateContentContent', {
  role: optional(oneOf(['user', 'model', 'function'])),
  parts: optional(Type.Array(Part, LIMITS.parts)),
})

const ThinkingConfig = object({
  includeThoughts: optional(Type.Boolean()),
  thinkingBudget: optional(Type.Integer({ ...LIMITS.thinkingBudget, description: '0 off, -1 dynamic' })),
  thinkingLevel: optional(
    Type.String({ description: 'MINIMAL, LOW, MEDIUM or HIGH; not together with thinkingBudget' }),
  ),
})

const GenerationConfig = titled('GenerationConfig', {
  temperature: optional(Type.Number({ ...LIMITS.temperature, default: 1 })),
  topP: optional(Type.Number(LIMITS.topP)),
  topK: optional(Type.Integer(LIMITS.topK)),
  candidateCount: optional(Type.Integer({ ...LIMITS.candidates, default: 1 })),
  maxOutputTokens: optional(Type.Integer(LIMITS.outputTokens)),
  stopSequences: optional(Type.Array(Type.String(), LIMITS.stopSequences)),
  presencePenalty: optional(Type.Number(LIMITS.penalty)),
  frequencyPenalty: optional(Type.Number(LIMITS.penalty)),
  seed: optional(Type.Integer(LIMITS.seed)),
  responseLogprobs: optional(Type.Boolean()),
  logprobs: optional(Type.Integer(LIMITS.topLogprobs)),
  responseMimeType: optional(Type.String({ description: 'text/plain or application/json' })),
  responseSchema: optional(AnyObject),
  responseJsonSchema: optional(AnyValue),
  thinkingConfig: optional(ThinkingConfig),
  responseModalities: optional(
    Type.Array(Type.String(), { description: 'TEXT, and IMAGE if the model has a price for it' }),
  ),
  imageConfig: optional(object({ aspectRatio: optional(Type.String()), imageSize: optional(Type.String()) })),
})

const FunctionDeclaration = titled('GenerateContentFunction', {
  name: NonEmptyString,
  description: optional(Type.String()),
  parameters: optional(AnyObject),
  parametersJsonSchema: optional(AnyObject),
})

const Tool = object({
  functionDeclarations: optional(Type.Array(FunctionDeclaration, LIMITS.functionDeclarations)),
})

const ToolConfig = object({
  functionCallingConfig: optional(
    object({
      mode: optional(Type.String({ description: 'AUTO, ANY, NONE or VALIDATED' })),
      allowedFunctionNames: optional(Type.Array(Type.String(), LIMITS.functionDeclarations)),
    }),
  ),
})

export const GenerateContentRequest = titled('GenerateContentRequest', {
  contents: Type.Array(Content, LIMITS.contents),
  systemInstruction: optional(object({ parts: optional(Type.Array(Part, LIMITS.parts)) })),
  generationConfig: optional(GenerationConfig),
  tools: optional(Type.Array(Tool, LIMITS.tools)),
  toolConfig: optional(ToolConfig),
  safetySettings: optional(Type.Array(AnyObject)),
  cachedContent: optional(Type.String()),
  labels: optional(AnyObject),
  serviceTier: optional(Type.String()),
  store: optional(Type.Boolean()),
  continuationToken: optional(Type.String()),
  svc: optional(preferencesSchema('maxPrice')),
  ...routingSchemas(LIMITS),
  fallback: optional(fallbackSchema(LIMITS)),
})

/** The body of `POST /v1beta/models/{model}:countTokens`: one of the two fields. */
export const CountTokensRequest = titled('GenerateContentCountRequest', {
  contents: optional(Type.Array(Content, LIMITS.contents)),
  generateContentRequest: optional(GenerateContentRequest),
})

export type WireRequest = Static<typeof GenerateContentRequest>
export type WireContent = Static<typeof Content>
export type WirePart = Static<typeof Part>
export type WireFunctionResponse = Static<typeof FunctionResponse>
export type WireInlineData = Static<typeof InlineData>
export type WireFileData = Static<typeof FileData>
export type WireTool = Static<typeof Tool>
export type WireToolConfig = Static<typeof ToolConfig>
export type WireGenerationConfig = Static<typeof GenerationConfig>
export type WireThinkingConfig = Static<typeof ThinkingConfig>

function optional<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(schema)
}

export const checkRequest = createRequestCheck(GenerateContentRequest)

/** Checks the body of `:countTokens` by the rules for whole requests. */
export const checkCountTokens = createRequestCheck(CountTokensRequest)
