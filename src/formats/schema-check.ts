/** Validates bodies, as a whole or in parts, against schemas, with one-sentence errors that name field and limit. */
import type { Static, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import { type GatewayError, invalidRequest } from '@/chat/error'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { fieldAt } from './field-path'

type SchemaWords = {
  isMeant(variant: TSchema, value: unknown): boolean
  word(value: unknown): string
}

/** Throws a GatewayError `invalid_request` that names the first faulty field; `path` is the place of `value` in the body. */
type SchemaCheck = (schema: TSchema, value: unknown, path: string) => void

/** A check that compiles each schema at its first use, since most requests have only a few types of parts. */
export function createSchemaCheck(words: SchemaWords): SchemaCheck {
  const compiled = new Map<TSchema, TypeCheck<TSchema>>()

  function compile(schema: TSchema): TypeCheck<TSchema> {
    const checker = TypeCompiler.Compile(schema)
    compiled.set(schema, checker)
    return checker
  }

  return (schema, value, path) => {
    const checker = compiled.get(schema) ?? compile(schema)
    if (checker.Check(value)) return
    const error = checker.Errors(value).First()
    throw error ? explain(error, path, words) : invalidRequest(`${path || 'the body'} is not valid`, path || undefined)
  }
}

function explain(error: ValueError, prefix: string, words: SchemaWords): GatewayError {
  const specific = mostSpecific(error, words)
  const path = fieldAt(specific.path, prefix)
  return invalidRequest(`${path || 'the body'} ${rule(specific, words)}`, path || undefined)
}

/** The most useful error: for a union, the error inside the variant that was meant. */
function mostSpecific(error: ValueError, words: SchemaWords): ValueError {
  if (error.type !== ValueErrorType.Union) return error
  const variants: TSchema[] = error.schema.anyOf
  const index = variants.findIndex((variant) => words.isMeant(variant, error.value))
  const inner = error.errors[index]?.First()
  return inner ? mostSpecific(inner, words) : error
}

function rule({ type, schema, value }: ValueError, words: SchemaWords): string {
  if (value === undefined) return 'is required'
  switch (type) {
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.NumberMinimum:
      return `must be at least ${schema.minimum}`
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMaximum:
      return `must be at most ${schema.maximum}`
    case ValueErrorType.ArrayMinItems:
      return `must have at least ${schema.minItems} item${schema.minItems === 1 ? '' : 's'}`
    case ValueErrorType.ArrayMaxItems:
      return `must have at most ${schema.maxItems} items`
    case ValueErrorType.ObjectMaxProperties:
      return `must have at most ${schema.maxProperties} fields`
    case ValueErrorType.StringMinLength:
      return 'must not be empty'
    case ValueErrorType.StringMaxLength:
      return `must have at most ${schema.maxLength} characters`
    default:
      return `must be ${wanted(schema, words)}`
  }
}

const ARTICLES: Record<string, string> = {
  string: 'a string',
  boolean: 'true or false',
  integer: 'an integer',
  number: 'a number',
  array: 'an array',
  object: 'an object',
}

function wanted(schema: TSchema, words: SchemaWords): string {
  if (schema.const !== undefined) return words.word(schema.const)
  const variants: TSchema[] = (schema.anyOf ?? []).filter((variant: TSchema) => variant.type !== 'null')
  if (variants.length === 1 && variants[0]) return wanted(variants[0], words)
  if (variants.length > 0 && variants.every((variant) => variant.const !== undefined)) {
    return `one of ${variants.map((variant) => words.word(variant.const)).join(', ')}`
  }
  return ARTICLES[schema.type as string] ?? schema.description ?? 'of another type'
}

/** Checks whole bodies against a schema, compiled at its first use. Throws `invalid_request` with the first faulty field and its range. */
export function createRequestCheck<Schema extends TSchema>(schema: Schema): (body: JsonObject) => Static<Schema> {
  let compiled: TypeCheck<Schema> | undefined
  return (body) => {
    compiled ??= TypeCompiler.Compile(schema)
    if (compiled.Check(body)) return body
    const first = compiled.Errors(body).First()
    throw first ? toGatewayError(innermost(first)) : invalidRequest('The request body is not valid')
  }
}

/** The most useful error: for a union, the error inside the variant that was meant. */
function innermost(error: ValueError): ValueError {
  if (error.type !== ValueErrorType.Union) return error
  for (const variant of error.errors) {
    const inner = variant.First()
    if (!inner) continue
    const specific = innermost(inner)
    if (specific.path !== error.path || isRangeError(specific)) return specific
  }
  return error
}

const RANGE_ERRORS: ReadonlySet<ValueErrorType> = new Set([
  ValueErrorType.ArrayMinItems,
  ValueErrorType.ArrayMaxItems,
  ValueErrorType.IntegerMinimum,
  ValueErrorType.IntegerMaximum,
  ValueErrorType.NumberMinimum,
  ValueErrorType.NumberMaximum,
  ValueErrorType.StringMinLength,
  ValueErrorType.StringMaxLength,
])

function isRangeError(error: ValueError): boolean {
  return RANGE_ERRORS.has(error.type)
}

function toGatewayError(error: ValueError): GatewayError {
  const param = fieldAt(error.path)
  if (error.value === undefined) return invalidRequest(`${param} is required`, param)
  return invalidRequest(`${param} must be ${describe(error.schema)}`, param)
}

function describe(schema: TSchema): string {
  if (Array.isArray(schema.anyOf)) return describeUnion(schema.anyOf)
  switch (schema.type) {
    case 'number':
      return `a number${describeRange(schema.minimum, schema.maximum, ' from')}`
    case 'integer':
      return `an integer${describeRange(schema.minimum, schema.maximum, ' from')}`
    case 'array':
      return `an array${describeItems(schema)}`
    case 'string':
      return schema.minLength === undefined
        ? 'a string'
        : `a non-empty string${schema.maxLength === undefined ? '' : ` of at most ${schema.maxLength} characters`}`
    case 'object':
      return 'an object'
    case 'boolean':
      return 'true or false'
    default:
      return 'valid'
  }
}

function describeItems({ minItems, maxItems }: TSchema): string {
  if (maxItems === undefined) return ''
  return minItems === undefined ? ` of at most ${maxItems} items` : ` of ${minItems} to ${maxItems} items`
}

function describeRange(minimum: unknown, maximum: unknown, preposition: string): string {
  return minimum === undefined || maximum === undefined ? '' : `${preposition} ${minimum} to ${maximum}`
}

function describeUnion(variants: TSchema[]): string {
  const wanted = variants.filter((variant) => variant.type !== 'null')
  const literals = wanted.map((variant) => variant.const)
  if (literals.every((literal) => typeof literal === 'string')) return `one of ${literals.join(', ')}`
  return wanted.filter(isJsonObject).map(describe).join(' or ')
}
