/** Decodes the requested output shape, converting the OpenAPI schema subset to JSON Schema. */
import type { OutputShape } from '@/chat/request'
import { camelCase } from '@/formats/generate-content/normalise'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import type { WireGenerationConfig } from './wire'

/** Converts an OpenAPI-subset schema to JSON Schema: lower-case types, `nullable` as type `null`, numeric texts as numbers. */
export function decodeSchema(schema: JsonObject): JsonObject {
  const converted = new Map<string, JsonValue>()
  let isNullable = false
  for (const [spelled, value] of Object.entries(schema)) {
    if (value === undefined || value === null) continue
    const key = camelCase(spelled)
    if (key === 'nullable') isNullable = value === true
    else if (key === 'format' && value === 'enum') continue
    else if (key === 'example') converted.set('examples', [value])
    else if (key !== 'propertyOrdering') setConverted(converted, key, value)
  }
  const result = Object.fromEntries(converted)
  return isNullable ? withNull(result) : result
}

const COUNT_KEYS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])

function setConverted(converted: Map<string, JsonValue>, key: string, value: JsonValue): void {
  const change = convertValue(key, value)
  if (change !== undefined) converted.set(key, change)
}

function convertValue(key: string, value: JsonValue): JsonValue | undefined {
  switch (key) {
    case 'type':
      return convertType(value)
    case 'items':
    case 'additionalProperties':
      return convertSchema(value)
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
    case 'prefixItems':
      return Array.isArray(value) ? value.map(convertSchema) : value
    case 'properties':
    case '$defs':
    case 'definitions':
      return isJsonObject(value) ? mapValues(value, convertSchema) : value
    default:
      return COUNT_KEYS.has(key) && typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  }
}

function convertType(type: JsonValue): JsonValue | undefined {
  if (Array.isArray(type)) return type.map((item) => (typeof item === 'string' ? item.toLowerCase() : item))
  if (typeof type !== 'string') return type
  return type === 'TYPE_UNSPECIFIED' ? undefined : type.toLowerCase()
}

function convertSchema(value: JsonValue): JsonValue {
  return isJsonObject(value) ? decodeSchema(value) : value
}

function mapValues(object: JsonObject, change: (value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value ?? {})]))
}

function withNull(schema: JsonObject): JsonObject {
  if (typeof schema.type === 'string') {
    const allowed = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}
    return { ...schema, type: [schema.type, 'null'], ...allowed }
  }
  return Array.isArray(schema.anyOf) ? { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] } : schema
}

/** The output shape. A schema without a media type means JSON; other media types are left to this format's providers. */
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

/** The field for an enum value: other formats' providers are asked for an object with it. Undefined without an enum. */
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
