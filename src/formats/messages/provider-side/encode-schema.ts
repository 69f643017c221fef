import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

/** Schema keywords that the API enforces; other keywords go into the description. */
const ENFORCED: ReadonlySet<string> = new Set([
  '$defs',
  '$ref',
  'additionalProperties',
  'allOf',
  'anyOf',
  'const',
  'default',
  'definitions',
  'description',
  'enum',
  'format',
  'items',
  'properties',
  'required',
  'title',
  'type',
])
const SCHEMA_MAPS: ReadonlySet<string> = new Set(['$defs', 'definitions', 'properties'])
const SCHEMA_LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf'])
const FORMATS: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
])

/** Encodes a JSON Schema as the API accepts it: closed objects, `anyOf` for `oneOf`; other constraints go into descriptions. */
export function encodeSchema(schema: JsonObject): JsonObject {
  const kept: [string, JsonValue][] = []
  const described: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined || keyword === '$schema') continue
    if (keyword === 'oneOf') kept.push(['anyOf', restrictList(value)])
    else if (isEnforced(keyword, value)) kept.push([keyword, restrictValue(keyword, value)])
    else described.push(`${keyword}: ${JSON.stringify(value)}`)
  }
  const result: JsonObject = Object.fromEntries(kept)
  if (isObjectSchema(result)) result.additionalProperties = false
  if (described.length > 0) {
    const before = typeof result.description === 'string' ? `${result.description}\n\n` : ''
    result.description = `${before}{${described.join(', ')}}`
  }
  return result
}

function isEnforced(keyword: string, value: JsonValue): boolean {
  if (keyword === 'format') return FORMATS.has(value)
  return keyword === 'minItems' ? value === 0 || value === 1 : ENFORCED.has(keyword)
}

function isObjectSchema(schema: JsonObject): boolean {
  return schema.type === 'object' || (schema.type === undefined && isJsonObject(schema.properties))
}

function restrictValue(keyword: string, value: JsonValue): JsonValue {
  if (SCHEMA_LISTS.has(keyword)) return restrictList(value)
  if (keyword === 'items' && isJsonObject(value)) return encodeSchema(value)
  if (!SCHEMA_MAPS.has(keyword) || !isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, isJsonObject(inner) ? encodeSchema(inner) : inner]),
  )
}

function restrictList(value: JsonValue): JsonValue {
  return Array.isArray(value) ? value.map((inner) => (isJsonObject(inner) ? encodeSchema(inner) : inner)) : value
}
