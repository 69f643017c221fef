/** The schemas of the OpenAPI document: plain, short JSON Schema, in which titled schemas are shared by reference. */
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

export interface SchemaShelf {
  /** The schema, or a reference if it has a title. Schemas with the same title must be equal. */
  refer(schema: object): JsonObject
  /** Every titled schema that was referred to, by title. */
  readonly schemas: Readonly<Record<string, JsonObject>>
}

export function createSchemaShelf(): SchemaShelf {
  const schemas: Record<string, JsonObject> = {}

  function refer(schema: object): JsonObject {
    const converted = Object.entries(schema).map(([keyword, value]) => [keyword, convertKeyword(keyword, value)])
    const plain = simplify(Object.fromEntries(converted))
    return typeof plain.title === 'string' ? shelve(plain.title, plain) : plain
  }

  function shelve(title: string, { description, ...schema }: JsonObject): JsonObject {
    const kept = schemas[title] ?? { ...(description !== undefined && { description }), ...schema }
    schemas[title] = kept
    const { description: keptDescription, ...keptSchema } = kept
    assert(Bun.deepEquals(keptSchema, schema), `two schemas are called ${title}`)
    const isDescribedAnew = description !== undefined && description !== keptDescription
    return { $ref: `#/components/schemas/${title}`, ...(isDescribedAnew && { description }) }
  }

  function convertKeyword(keyword: string, value: JsonValue | undefined): JsonValue | undefined {
    switch (keyword) {
      case 'properties':
      case 'patternProperties':
        return Object.fromEntries(
          Object.entries(value as JsonObject).map(([name, inner]) => [name, referAny(inner ?? true)]),
        )
      case 'anyOf':
      case 'allOf':
      case 'oneOf':
        return (value as JsonValue[]).map(referAny)
      case 'additionalProperties':
        // Routes refuse unknown fields by a schema that matches no value.
        return Bun.deepEquals(value, { not: {} }) ? false : referAny(value)
      case 'items':
      case 'not':
        return referAny(value)
      default:
        return value
    }
  }

  function referAny<Value>(value: Value): Value | JsonObject {
    return isJsonObject(value) ? refer(value) : value
  }

  return { refer, schemas }
}

/** An equivalent, shorter schema for objects with any keys, and for unions. */
function simplify(schema: JsonObject): JsonObject {
  const { patternProperties, anyOf, ...rest } = schema
  if (isJsonObject(patternProperties) && Object.keys(patternProperties).join() === ANY_KEY) {
    return { ...rest, additionalProperties: patternProperties[ANY_KEY] ?? true }
  }
  if (!Array.isArray(anyOf)) return schema
  // Drops the text variant that the router accepts in queries and forms, since the other variant describes the value.
  const variants = anyOf.filter(isJsonObject).filter(({ type, format }) => type !== 'string' || !isStandIn(format))
  return { ...merge(variants), ...rest }
}

const ANY_KEY = '^(.*)$'

function isStandIn(format: JsonValue | undefined): boolean {
  return format === 'numeric' || format === 'integer' || format === 'boolean'
}

/** Merges several constants into an enum, null into a second type, and anything into an empty schema; else returns the union unchanged. */
function merge(variants: readonly JsonObject[]): JsonObject {
  if (variants.some((variant) => Object.keys(variant).length === 0)) return {}
  const others = variants.filter(({ type }) => type !== 'null')
  const isNullable = others.length < variants.length
  const [first, ...more] = others
  if (!first) return { type: 'null' }
  if (others.every(({ const: value, type }) => value !== undefined && type === first.type)) {
    const values = others.map(({ const: value }) => value as JsonValue)
    return isNullable
      ? { type: [first.type as string, 'null'], enum: [...values, null] }
      : { type: first.type as string, enum: values }
  }
  if (more.length > 0) return { anyOf: [...variants] }
  if (!isNullable) return first
  const isPlain = typeof first.type === 'string' && first.enum === undefined && first.const === undefined
  return isPlain ? { ...first, type: [first.type as string, 'null'] } : { anyOf: [...variants] }
}
