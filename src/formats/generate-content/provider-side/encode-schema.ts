import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { numberOf } from '@/lib/json-source/as-written'
import { type Flattened, flattenSchema, type SchemaScope } from './flatten-schema'
import { jsonBytes, paidFor, type SchemaBudget, spend } from './schema-budget'

const MIN_SCHEMA_BYTES = 16
const NAME_BYTES = 4
const MAX_DEPTH = 48

/** Converts JSON Schema to the OpenAPI subset, without recursion. The result accepts all values of `schema`. Throws above `budget`. */
export function encodeSchema(schema: JsonObject, budget: SchemaBudget): JsonObject {
  return paidFor(convert(schema, { root: schema, expanding: new Set(), budget, depth: 0 }), budget)
}

function convert(schema: JsonValue | undefined, scope: SchemaScope): JsonObject {
  if (!isJsonObject(schema) || scope.depth > MAX_DEPTH) return anything({})
  const flattened = flattenSchema(schema, scope)
  if (!flattened) return { type: 'OBJECT' }
  spend(scope.budget, sizeOf(flattened.schema))
  const { types, isNullable } = readTypes(flattened.schema)
  const alternatives = alternativesOf(flattened, types)
  const type = types[0] ?? inferType(flattened.schema) ?? (isNullable ? 'string' : undefined)
  const converted = alternatives ? convertAlternatives(flattened, alternatives) : convertTyped(flattened, type)
  return isNullable ? asNullable(converted) : converted
}

/** A schema for any type, since the subset requires a type. */
function anything(texts: JsonObject): JsonObject {
  return { anyOf: [{ type: 'STRING', ...texts }, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }] }
}

function sizeOf(schema: JsonObject): number {
  let bytes = MIN_SCHEMA_BYTES
  for (const key in schema) bytes += key.length + NAME_BYTES
  for (const key of COPIED_KEYS) if (schema[key] !== undefined) bytes += jsonBytes(schema[key])
  if (isJsonObject(schema.properties)) for (const name in schema.properties) bytes += name.length + NAME_BYTES
  return bytes
}

const COPIED_KEYS = ['title', 'description', 'enum', 'const', 'required', 'pattern', 'default', 'propertyOrdering']

const TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object'])

function readTypes(schema: JsonObject): { types: string[]; isNullable: boolean } {
  const named = (Array.isArray(schema.type) ? schema.type : [schema.type])
    .filter((type) => typeof type === 'string')
    .map((type) => type.toLowerCase())
  const allowsNull = Array.isArray(schema.enum) && schema.enum.includes(null)
  return {
    types: [...new Set(named.filter((type) => TYPES.has(type)))],
    isNullable: named.includes('null') || schema.nullable === true || schema.const === null || allowsNull,
  }
}

function inferType(schema: JsonObject): string | undefined {
  if (schema.properties !== undefined || schema.additionalProperties !== undefined) return 'object'
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array'
  const kinds = new Set(
    literalsOf(schema)
      ?.filter((value) => value !== null)
      .map((value) => (numberOf(value) === undefined ? typeof value : 'number')),
  )
  for (const kind of ['string', 'number', 'boolean'] as const) if (kinds.size === 1 && kinds.has(kind)) return kind
  if (schema.pattern !== undefined || schema.minLength !== undefined) return 'string'
  return schema.minimum === undefined && schema.maximum === undefined ? undefined : 'number'
}

function alternativesOf({ schema }: Flattened, types: string[]): JsonObject[] | undefined {
  const listed = [schema.anyOf, schema.oneOf].filter(Array.isArray).flat().filter(isJsonObject)
  // Drops alternatives that only constrain, such as "one of these is required": the subset can't express them.
  const chosen = listed.filter((alternative) => Object.keys(alternative).some((key) => !CONSTRAINT_KEYS.has(key)))
  if (chosen.length > 0) return chosen
  if (types.length < 2) return undefined
  return types.map((type) => ({ type }))
}

const CONSTRAINT_KEYS: ReadonlySet<string> = new Set(['required', 'not', 'title', 'description', '$comment'])

/** Providers limited to the subset require `anyOf` to be alone, so its sibling keywords are copied into each alternative. */
function convertAlternatives({ schema, scope }: Flattened, alternatives: JsonObject[]): JsonObject {
  const { anyOf: _anyOf, oneOf: _oneOf, title: _title, description, ...beside } = schema
  if (Array.isArray(beside.type)) delete beside.type
  const converted: JsonObject[] = []
  let isNullable = false
  for (const alternative of alternatives) {
    if (alternative.type === 'null' || alternative.const === null) isNullable = true
    else converted.push(convert({ ...beside, ...alternative }, { ...scope, depth: scope.depth + 1 }))
  }
  const flat = converted.flatMap((item) => (Array.isArray(item.anyOf) ? item.anyOf.filter(isJsonObject) : [item]))
  const [only, ...others] = flat.length > 0 ? flat : [{ type: 'STRING' }]
  const told = { ...(typeof description === 'string' && { description }), ...only }
  const whole: JsonObject = others.length === 0 ? told : { anyOf: [told, ...others] }
  return isNullable ? asNullable(whole) : whole
}

function convertTyped({ schema, scope }: Flattened, type: string | undefined): JsonObject {
  const texts = { ...keepText(schema, 'title'), ...keepText(schema, 'description') }
  if (type === undefined) return anything({ ...texts, ...describeLiterals(schema, texts.description) })
  const inner = { ...scope, depth: scope.depth + 1 }
  const common = { type: type.toUpperCase(), ...texts, ...(schema.default != null && { default: schema.default }) }
  switch (type) {
    case 'object':
      return { ...common, ...convertProperties(schema, inner), ...keepCounts(schema, 'minProperties', 'maxProperties') }
    case 'array':
      return { ...common, items: convert(itemsOf(schema), inner), ...keepCounts(schema, 'minItems', 'maxItems') }
    case 'string':
      return { ...common, ...convertString(schema, texts.description) }
    case 'boolean':
      return { ...common, ...describeLiterals(schema, texts.description) }
    default:
      return { ...common, ...convertRange(schema, type), ...describeLiterals(schema, texts.description) }
  }
}

function convertProperties(schema: JsonObject, scope: SchemaScope): JsonObject {
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : []
  if (properties.length === 0) return {}
  const names = new Set(properties.map(([name]) => name))
  const known = (list: JsonValue | undefined) =>
    Array.isArray(list) ? list.filter((name) => typeof name === 'string' && names.has(name)) : []
  const required = [...new Set(known(schema.required))]
  const ordering = [...new Set(known(schema.propertyOrdering))]
  return {
    properties: Object.fromEntries(properties.map(([name, property]) => [name, convert(property, scope)])),
    ...(required.length > 0 && { required }),
    ...(ordering.length > 0 && { propertyOrdering: ordering }),
  }
}

/** One schema for all items; for a tuple, any of its members. */
function itemsOf(schema: JsonObject): JsonValue | undefined {
  const members = [schema.prefixItems, schema.items].filter(Array.isArray).flat()
  if (members.length === 0) return schema.items
  return { anyOf: isJsonObject(schema.items) ? [...members, schema.items] : members }
}

function convertString(schema: JsonObject, description: JsonValue | undefined): JsonObject {
  const literals = literalsOf(schema)?.filter((value) => value !== null)
  const isEnum = literals !== undefined && literals.length > 0 && literals.every((value) => isText(value))
  return {
    ...(schema.format === 'date-time' && { format: 'date-time' }),
    ...(isEnum ? { enum: [...new Set(literals)] } : describeLiterals(schema, description)),
    ...keepText(schema, 'pattern'),
    ...keepCounts(schema, 'minLength', 'maxLength'),
  }
}

function convertRange(schema: JsonObject, type: string): JsonObject {
  const step = type === 'integer' ? 1 : 0
  const minimum = boundOf(schema.minimum, 0) ?? boundOf(schema.exclusiveMinimum, step)
  const maximum = boundOf(schema.maximum, 0) ?? boundOf(schema.exclusiveMaximum, -step)
  return {
    ...(NUMBER_FORMATS.has(`${type} ${schema.format}`) && { format: schema.format }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
  }
}

const NUMBER_FORMATS: ReadonlySet<string> = new Set(['number float', 'number double', 'integer int32', 'integer int64'])

function literalsOf(schema: JsonObject): JsonValue[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum
  return schema.const === undefined ? undefined : [schema.const]
}

/** In the subset, an enum contains only texts; other allowed values are added to the description. */
function describeLiterals(schema: JsonObject, description: JsonValue | undefined): JsonObject {
  const literals = literalsOf(schema)
  if (!literals || literals.length === 0) return {}
  const said = `One of: ${literals.map((value) => JSON.stringify(value)).join(', ')}`
  return { description: typeof description === 'string' ? `${description} ${said}` : said }
}

function isText(value: JsonValue): boolean {
  return typeof value === 'string' && value !== ''
}

function keepText(schema: JsonObject, key: string): JsonObject {
  return typeof schema[key] === 'string' ? { [key]: schema[key] } : {}
}

function keepCounts(schema: JsonObject, ...keys: string[]): JsonObject {
  return Object.fromEntries(
    keys.flatMap((key) => (Number.isInteger(numberOf(schema[key])) ? [[key, schema[key]]] : [])),
  )
}

/** An exclusive bound as an inclusive one: `step` is added. Without a step, or beyond safe integers, the bound stays. */
function boundOf(value: JsonValue | undefined, step: number): JsonValue | undefined {
  const bound = numberOf(value)
  if (bound === undefined || !Number.isFinite(bound)) return undefined
  return step !== 0 && Number.isSafeInteger(bound) ? bound + step : value
}

function asNullable(schema: JsonObject): JsonObject {
  return Array.isArray(schema.anyOf)
    ? { anyOf: schema.anyOf.map((item) => (isJsonObject(item) ? { ...item, nullable: true } : item)) }
    : { ...schema, nullable: true }
}
