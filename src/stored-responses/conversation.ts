/**
 * What a request builds on, read again: the chain of answers behind `previous_response_id`, oldest first, and the items that it
 * only names. Everything is looked for in the caller's own account, where nothing of anybody else can be found.
 */
import { GatewayError, invalidRequest } from '@/chat/error'
import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import type { JsonObject, JsonValue } from '@/lib/json'
import type { Copies } from './copies'
import { MAX_CHAIN_BYTES, MAX_CHAIN_LINKS, MAX_REFERENCES, STORED_ID } from './limits'
import { isReasoningId, referenceOf } from './own-input'
import { findChain, findOwners, findRow } from './rows'
import { inputItems, outputItems, type StoredResponse } from './stored-items'

type ConversationDeps = { database: Database; copies: Pick<Copies, 'find' | 'findOwner'> }

/** How long the history may take, for all that one request builds on. */
const TIMEOUT_MS = 5_000
/** Answers that are read together where items of many are named. */
const READ_AT_ONCE = 8

/** One answer of the account. Throws `overloaded` without the history. */
export async function findStored(
  { database, copies }: ConversationDeps,
  accountId: string,
  id: string,
): Promise<StoredResponse | undefined> {
  if (!STORED_ID.test(id)) return undefined
  const copy = await copies.find(accountId, id)
  if (copy) return copy === 'deleted' ? undefined : copy
  return await fromHistory(findRow(database, accountId, id))
}

type Chain = {
  /** The newest first. */
  links: StoredResponse[]
  /** Of the first one that is not there. */
  missingId: string | undefined
}

/** The answers behind `id`. Throws `invalid_request` where they are more than one request may build on. */
export async function readChain(deps: ConversationDeps, accountId: string, id: string): Promise<Chain> {
  const links: StoredResponse[] = []
  let bytes = 0
  for (let next: string | null = id; next !== null; next = links.at(-1)?.parentId ?? null) {
    const found = await readLinks(deps, accountId, next)
    if (found === 'tooLarge') throw chainTooLarge()
    if (found.length === 0) return { links, missingId: next }
    links.push(...found)
    for (const link of found) bytes += link.bytes
    if (links.length > MAX_CHAIN_LINKS || bytes > MAX_CHAIN_BYTES) throw chainTooLarge()
  }
  return { links, missingId: undefined }
}

/** One link from the copies, or as many as there are from the history. */
async function readLinks({ database, copies }: ConversationDeps, accountId: string, id: string) {
  if (!STORED_ID.test(id)) return []
  const copy = await copies.find(accountId, id)
  if (copy) return copy === 'deleted' ? [] : [copy]
  return await fromHistory(findChain(database, accountId, id))
}

/** All that was said in a chain, oldest first. */
export function itemsOf(links: readonly StoredResponse[]): JsonObject[] {
  return links.toReversed().flatMap((link) => [...inputItems(link), ...outputItems(link)])
}

type Resolved = {
  items: JsonValue[]
  /** What they add to the request. */
  bytes: number
  /** Whether reasoning was named that is gone: the conversation goes on without. */
  isShortened: boolean
}

/** `items` with what they name in the place of the names. Throws `not_found` for what is gone and can't be left out. */
export async function resolveReferences(
  deps: ConversationDeps,
  accountId: string,
  items: readonly JsonValue[],
  isStoring: boolean,
): Promise<Resolved> {
  const ids = new Set(items.flatMap((item) => referenceOf(item) ?? []))
  if (ids.size === 0) return { items: [...items], bytes: 0, isShortened: false }
  if (ids.size > MAX_REFERENCES) {
    throw invalidRequest(`input: names more than ${MAX_REFERENCES} items by their ids.`, 'input')
  }
  const found = isStoring ? await findItems(deps, accountId, ids) : new Map<string, JsonObject>()
  let isShortened = false
  let bytes = 0
  const resolved = items.flatMap((item, index) => {
    const id = referenceOf(item)
    if (id === undefined) return [item]
    const named = found.get(id)
    if (named) {
      bytes += Buffer.byteLength(JSON.stringify(named))
      return [named]
    }
    if (!isReasoningId(id)) throw unknownItem(id, index)
    isShortened = true
    return []
  })
  return { items: resolved, bytes, isShortened }
}

async function findItems(deps: ConversationDeps, accountId: string, ids: ReadonlySet<string>) {
  const wanted = Map.groupBy(await findOwnersOf(deps, accountId, ids), ([, owner]) => owner)
  const items = new Map<string, JsonObject>()
  const owners = [...wanted.keys()]
  let bytes = 0
  for (let start = 0; start < owners.length; start += READ_AT_ONCE) {
    const some = owners.slice(start, start + READ_AT_ONCE)
    for (const stored of await Promise.all(some.map((owner) => findStored(deps, accountId, owner)))) {
      if (!stored) continue
      bytes += stored.bytes
      if (bytes > MAX_CHAIN_BYTES) throw chainTooLarge()
      takeItems(stored, new Set(wanted.get(stored.id)?.map(([id]) => id)), items)
    }
  }
  return items
}

/** Nearly always what is named is of the answer, and the input need not be read. */
function takeItems(stored: StoredResponse, wanted: Set<string>, items: Map<string, JsonObject>): void {
  for (const itemsOfOne of [outputItems, inputItems]) {
    if (wanted.size === 0) return
    for (const item of itemsOfOne(stored)) {
      if (typeof item.id === 'string' && wanted.delete(item.id)) items.set(item.id, item)
    }
  }
}

async function findOwnersOf({ database, copies }: ConversationDeps, accountId: string, ids: ReadonlySet<string>) {
  const known = [...ids].filter((id) => STORED_ID.test(id))
  const copied = await Promise.all(known.map((id) => copies.findOwner(accountId, id)))
  const owners = new Map<string, string>()
  for (const [index, id] of known.entries()) {
    const owner = copied[index]
    if (owner !== undefined) owners.set(id, owner)
  }
  const rest = known.filter((id) => !owners.has(id))
  if (rest.length === 0) return owners
  const rows = await fromHistory(findOwners(database, accountId, rest))
  return new Map([...rows, ...owners])
}

/** What the history answers in time. Throws `overloaded` where it does not. */
export async function fromHistory<T>(reading: Promise<T>): Promise<T> {
  try {
    return await withDatabaseDeadline(reading, TIMEOUT_MS)
  } catch (cause) {
    throw new GatewayError('overloaded', 'Stored responses cannot be read at the moment. Try again.', {
      retryAfterSeconds: 2,
      cause,
    })
  }
}

function chainTooLarge(): GatewayError {
  const message =
    `The conversation behind this request has more than ${MAX_CHAIN_LINKS} responses or ` +
    `${MAX_CHAIN_BYTES / 1024 / 1024} MiB. Start a new one, with what matters of it as \`input\`.`
  return new GatewayError('invalid_request', message, { param: 'previous_response_id', code: 'chain_too_large' })
}

/** Ids are whatever a client sends. */
const MAX_SHOWN_CHARS = 128

function unknownItem(id: string, index: number): GatewayError {
  const message =
    `Item with id '${id.slice(0, MAX_SHOWN_CHARS)}' not found. Items are not persisted when \`store\` is set to false. ` +
    'Try again with `store` set to true, or remove this item from your input.'
  return new GatewayError('not_found', message, { param: `input[${index}].id`, code: 'item_not_found' })
}

/** What the caller builds on is not there, or is somebody else's. OpenAI blames the request: 400, unlike for an id in the path. */
export function unknownPrevious(id: string): GatewayError {
  const message = `Previous response with id '${id.slice(0, MAX_SHOWN_CHARS)}' not found.`
  return new GatewayError('invalid_request', message, {
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  })
}

/** The same of an answer that is asked for by its id. */
export function unknownResponse(id: string): GatewayError {
  return new GatewayError('not_found', `Response with id '${id.slice(0, MAX_SHOWN_CHARS)}' not found.`)
}
