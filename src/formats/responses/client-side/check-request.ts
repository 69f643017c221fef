/** What of a responses body is checked against which schema. */

import type { TSchema } from '@sinclair/typebox'
import { createSchemaCheck } from '@/formats/schema-check'
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

const check = createSchemaCheck({ isMeant, word: String })

/** Of several words one is as good as another. */
function isMeant({ type, const: word }: TSchema, value: unknown): boolean {
  if (word !== undefined) return false
  if (Array.isArray(value)) return type === 'array'
  if (isJsonObject(value)) return type === 'object'
  return typeof value === 'number' ? type === 'number' || type === 'integer' : typeof value === type
}
