/** The form of the answer that a generate-content request asks for: media type and schema in the words of the hub. */
import type { OutputShape } from '@/chat/request'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { decodeSchema } from './decode-schema'
import type { WireGenerationConfig } from './wire'

/** What the answer must look like. A schema without a media type means JSON; beside another media type it is this format's own affair. */
export function decodeOutput({
  responseMimeType,
  responseSchema,
  responseJsonSchema,
}: WireGenerationConfig): OutputShape {
  const values = responseMimeType === ENUM_TYPE ? enumOf(responseJsonSchema ?? responseSchema) : undefined
  if (values) return { type: 'json-schema', name: 'choice', strict: true, schema: choiceSchema(values) }
  const isText = responseMimeType !== undefined && responseMimeType !== 'application/json'
  if (isText) return { type: 'text' }
  if (isJsonObject(responseJsonSchema)) return { type: 'json-schema', schema: asWritten(responseJsonSchema) }
  if (responseSchema) return { type: 'json-schema', schema: decodeSchema(asWritten(responseSchema)) }
  return responseMimeType === 'application/json' ? { type: 'json' } : { type: 'text' }
}

const ENUM_TYPE = 'text/x.enum'
const ENUM_FIELD = 'choice'

/** The field of the object that other formats' providers are asked for where this format's caller wants one word out of a list. */
export function answerFieldOf({ responseMimeType, responseSchema, responseJsonSchema }: WireGenerationConfig) {
  return responseMimeType === ENUM_TYPE && enumOf(responseJsonSchema ?? responseSchema) ? ENUM_FIELD : undefined
}

function enumOf(schema: unknown): JsonValue[] | undefined {
  return isJsonObject(schema) && Array.isArray(schema.enum) && schema.enum.length > 0 ? schema.enum : undefined
}

function choiceSchema(values: JsonValue[]): JsonObject {
  const choice = { type: 'string', enum: values }
  return { type: 'object', properties: { [ENUM_FIELD]: choice }, required: [ENUM_FIELD], additionalProperties: false }
}
