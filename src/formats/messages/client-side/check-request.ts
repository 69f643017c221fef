/** Checks a messages body against its schemas, and says in one sentence which field breaks which limit. */

import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import { type GatewayError, invalidRequest } from '@/chat/error'
import { fieldAt } from '@/formats/field-path'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { CountTokensRequest, MessagesRequest, type WireCountRequest, type WireRequest } from './wire'
import { BLOCKS, type WireBlock, type WireBlockType, type WireTypedBlock } from './wire-blocks'

/** Returns a body as a request. Throws a GatewayError `invalid_request` that names the first field at fault. */
export function checkRequest(body: JsonObject): WireRequest {
  check(MessagesRequest, body, '')
  return body as unknown as WireRequest
}

/** The same for the body of count_tokens. */
export function checkCountTokens(body: JsonObject): WireCountRequest {
  check(CountTokensRequest, body, '')
  return body as unknown as WireCountRequest
}

/** Whether the hub has a word for blocks of this type. */
export function isKnownBlock(block: WireTypedBlock): block is WireBlock {
  return Object.hasOwn(BLOCKS, block.type)
}

/** Returns a block as one of its `type`. Throws like {@link checkRequest}; `path` is where the block stands. */
export function checkBlock<T extends WireBlockType>(type: T, block: WireTypedBlock, path: string): WireBlock<T> {
  check(BLOCKS[type], block, path)
  return block as unknown as WireBlock<T>
}

const compiled = new Map<TSchema, TypeCheck<TSchema>>()

/** Each schema is compiled once, at its first use: most requests hold only a few types of blocks. */
function compile(schema: TSchema): TypeCheck<TSchema> {
  const checker = TypeCompiler.Compile(schema)
  compiled.set(schema, checker)
  return checker
}

function check(schema: TSchema, value: unknown, path: string): void {
  const checker = compiled.get(schema) ?? compile(schema)
  if (checker.Check(value)) return
  const error = checker.Errors(value).First()
  throw error ? explain(error, path) : invalidRequest(`${path || 'the body'} is not valid`, path || undefined)
}

function explain(error: ValueError, prefix: string): GatewayError {
  const inner = innerError(error)
  if (inner) return explain(inner, prefix)
  const path = fieldAt(error.path, prefix)
  return invalidRequest(`${path || 'the body'} ${rule(error)}`, path || undefined)
}

/** Of a union, the error of the one variant that the value was meant to be, where that is plain. */
function innerError(error: ValueError): ValueError | undefined {
  if (error.type !== ValueErrorType.Union) return undefined
  const variants = error.schema.anyOf as TSchema[]
  const index = variants.findIndex((variant) => isMeant(variant, error.value))
  return error.errors[index]?.First()
}

function isMeant(variant: TSchema, value: unknown): boolean {
  if (Array.isArray(value)) return variant.type === 'array'
  if (!isJsonObject(value) || variant.type !== 'object') return false
  const type: TSchema | undefined = variant.properties.type
  if (value.type === undefined) return type !== undefined && !(variant.required as string[]).includes('type')
  return type?.const === value.type
}

function rule({ type, schema }: ValueError): string {
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return 'is required'
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
    case ValueErrorType.StringMinLength:
      return 'must not be empty'
    case ValueErrorType.StringMaxLength:
      return `must have at most ${schema.maxLength} characters`
    default:
      return `must be ${wanted(schema)}`
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

function wanted(schema: TSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const variants: TSchema[] = schema.anyOf ?? []
  if (variants.length > 0 && variants.every((variant) => variant.const !== undefined)) {
    return `one of ${variants.map((variant) => JSON.stringify(variant.const)).join(', ')}`
  }
  return ARTICLES[schema.type as string] ?? schema.description ?? 'of another type'
}
