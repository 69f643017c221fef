/** Checks a responses body against its schemas, and says in one sentence which field breaks which limit. */

import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import { type GatewayError, invalidRequest } from '@/chat/error'
import { fieldAt } from '@/formats/field-path'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { ResponsesRequest, type WireRequest } from './wire'
import { ITEMS, type WireAnyItem, type WireItem, type WireItemType } from './wire-items'

/** Returns a body as a request. Throws a GatewayError `invalid_request` that names the first field at fault. */
export function checkRequest(body: JsonObject): WireRequest {
  check(ResponsesRequest, body, '')
  return body as unknown as WireRequest
}

/** The type of an item; one that names none but has a role is a message. */
export function typeOfItem({ type, role }: WireAnyItem): string {
  return type ?? (role === undefined || role === null ? '' : 'message')
}

/** Whether the hub has a word for items of `type`. */
export function isKnownType(type: string): type is WireItemType {
  return Object.hasOwn(ITEMS, type)
}

/** Returns an item as one of its `type`. Throws like {@link checkRequest}; `path` is where the item stands. */
export function checkItem<T extends WireItemType>(type: T, item: WireAnyItem, path: string): WireItem<T> {
  check(ITEMS[type], item, path)
  return item as unknown as WireItem<T>
}

const compiled = new Map<TSchema, TypeCheck<TSchema>>()

/** Each schema is compiled once, at its first use: most requests hold only a few types of items. */
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
  const specific = mostSpecific(error)
  const path = fieldAt(specific.path, prefix)
  return invalidRequest(`${path || 'the body'} ${rule(specific)}`, path || undefined)
}

/** A union's own error says little; the error inside the variant that the value was meant to be says what is wrong. */
function mostSpecific(error: ValueError): ValueError {
  if (error.type !== ValueErrorType.Union) return error
  const variants: TSchema[] = error.schema.anyOf
  const index = variants.findIndex((variant) => isMeant(variant, error.value))
  const inner = error.errors[index]?.First()
  return inner ? mostSpecific(inner) : error
}

/** Of several words one is as good as another. */
function isMeant({ type, const: word }: TSchema, value: unknown): boolean {
  if (word !== undefined) return false
  if (Array.isArray(value)) return type === 'array'
  if (isJsonObject(value)) return type === 'object'
  return typeof value === 'number' ? type === 'number' || type === 'integer' : typeof value === type
}

function rule({ type, schema, value }: ValueError): string {
  if (value === undefined) return 'is required'
  switch (type) {
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.NumberMinimum:
      return `must be at least ${schema.minimum}`
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMaximum:
      return `must be at most ${schema.maximum}`
    case ValueErrorType.ArrayMaxItems:
      return `must have at most ${schema.maxItems} items`
    case ValueErrorType.ObjectMaxProperties:
      return `must have at most ${schema.maxProperties} fields`
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
  const variants: TSchema[] = (schema.anyOf ?? []).filter((variant: TSchema) => variant.type !== 'null')
  if (variants.length === 1 && variants[0]) return wanted(variants[0])
  if (variants.length > 0 && variants.every((variant) => variant.const !== undefined)) {
    return `one of ${variants.map((variant) => variant.const).join(', ')}`
  }
  return ARTICLES[schema.type as string] ?? schema.description ?? 'of another type'
}
