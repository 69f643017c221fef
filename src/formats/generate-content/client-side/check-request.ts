/** Checks a normalised generate-content body against its schema, and says in words which field breaks which limit. */

import type { Static, TSchema } from '@sinclair/typebox'
import { TypeCompiler, type ValueError } from '@sinclair/typebox/compiler'
import { type GatewayError, invalidRequest } from '@/chat/error'
import { fieldAt } from '@/formats/field-path'
import type { JsonObject } from '@/lib/json'
import { CountTokensRequest, GenerateContentRequest } from './wire'

/** Returns the body as a request. Throws a GatewayError `invalid_request` that names the first field at fault. */
export const checkRequest = checker(GenerateContentRequest)

/** The same for the body of `:countTokens`. */
export const checkCountTokens = checker(CountTokensRequest)

/** A check against any schema of the format. */
export function checker<Schema extends TSchema>(schema: Schema): (body: JsonObject) => Static<Schema> {
  const compiled = TypeCompiler.Compile(schema)
  return (body) => {
    if (compiled.Check(body)) return body
    const first = compiled.Errors(body).First()
    throw first ? toGatewayError(first) : invalidRequest('the request body is not valid')
  }
}

function toGatewayError(error: ValueError): GatewayError {
  const param = fieldAt(error.path)
  if (error.value === undefined) return invalidRequest(`${param} is required`, param)
  return invalidRequest(`${param} must be ${describe(error.schema)}`, param)
}

/** What a schema wants, in words: `an integer from 1 to 8`. */
function describe(schema: TSchema): string {
  if (Array.isArray(schema.anyOf)) return `one of ${schema.anyOf.map((variant: TSchema) => variant.const).join(', ')}`
  switch (schema.type) {
    case 'number':
      return `a number from ${schema.minimum} to ${schema.maximum}`
    case 'integer':
      return `an integer from ${schema.minimum} to ${schema.maximum}`
    case 'array':
      return schema.maxItems === undefined
        ? 'an array'
        : `an array of ${schema.minItems ?? 0} to ${schema.maxItems} items`
    case 'string':
      return schema.minLength === undefined ? 'a string' : `a non-empty string${describeMaximum(schema.maxLength)}`
    case 'boolean':
      return 'true or false'
    default:
      return 'an object'
  }
}

function describeMaximum(maxLength: number | undefined): string {
  return maxLength === undefined ? '' : ` of at most ${maxLength} characters`
}
