/** What of a messages body is checked against which schema. */

import type { TSchema } from '@sinclair/typebox'
import { createSchemaCheck } from '@/formats/schema-check'
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

const check = createSchemaCheck({ isMeant, word: JSON.stringify })

/** Of several kinds of objects, the one whose `type` it has. */
function isMeant(variant: TSchema, value: unknown): boolean {
  if (Array.isArray(value)) return variant.type === 'array'
  if (!isJsonObject(value) || variant.type !== 'object') return false
  const type: TSchema | undefined = variant.properties.type
  if (value.type === undefined) return type !== undefined && !(variant.required as string[]).includes('type')
  return type?.const === value.type
}
