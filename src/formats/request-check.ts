/** Checks a whole body against the schema of its request, and says in words which field breaks which limit. */
import type { Static, TSchema } from '@sinclair/typebox'
import { TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import { type GatewayError, invalidRequest } from '@/chat/error'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { fieldAt } from './field-path'

/** The check of a body. It throws a GatewayError `invalid_request` that names the first field at fault. */
export function createRequestCheck<Schema extends TSchema>(schema: Schema): (body: JsonObject) => Static<Schema> {
  const compiled = TypeCompiler.Compile(schema)
  return (body) => {
    if (compiled.Check(body)) return body
    const first = compiled.Errors(body).First()
    throw first ? toGatewayError(mostSpecific(first)) : invalidRequest('The request body is not valid')
  }
}

/** A union's own error says little; the error inside the variant that the value was meant to be says what is wrong. */
function mostSpecific(error: ValueError): ValueError {
  if (error.type !== ValueErrorType.Union) return error
  for (const variant of error.errors) {
    const inner = variant.First()
    if (!inner) continue
    const specific = mostSpecific(inner)
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

/** What a schema wants, in words: `an integer from 1 to 128000`. */
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
