/** Reads the answers that a request continues (`previous_response_id`), and the items that it names, only of the caller's account. */
import { GatewayError, invalidRequest } from '@/chat/error'
import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import type { JsonObject, JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { ownTurn } from '@/lib/wait/own-turn'
import type { Copies, ItemOwner } from './copies'
import { MAX_CHAIN_BYTES, MAX_CHAIN_LINKS, MAX_CHAIN_VALUES, MAX_REFERENCES, STORED_ID } from './limits'
import { findOwners, findRow, findRows, measureChain } from './rows'
import {
  type ChainSum,
  countValues,
  inputItems,
  isReasoningId,
  outputItems,
  referenceOf,
  type StoredResponse,
  type StoredSum,
} from './stored-items'

type ConversationDeps = { database: Database; copies: Pick<Copies, 'find' | 'findOwner'> }

/** Time limit for reading from Postgres all answers and items that one request refers to. */
const TIMEOUT_MS = 5_000
/** Answers to read with one query, if a request names items of many answers. */
const READ_AT_ONCE = 8
/** Bytes of answers to parse before other requests get a turn. Parsing them takes a few milliseconds. */
const MAX_PARSED_AT_ONCE = 256 * 1024

/** One answer of the account. Throws `overloaded` if Postgres doesn't answer. */
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
  /** The answers of the conversation, the newest first. */
  links: StoredResponse[]
  missingId: string | undefined
  sum: ChainSum
}

/** Called with the conversation's size before the conversation is read. May throw to refuse the size. */
export type BeforeReading = (sum: StoredSum) => Promise<void> | undefined

/** The answer `id` and the earlier ones that it continues. Throws `invalid_request` for too many, and errors of `beforeReading`. */
export async function readChain(
  deps: ConversationDeps,
  accountId: string,
  id: string,
  beforeReading: BeforeReading,
): Promise<Chain> {
  const links: StoredResponse[] = []
  const sum = { links: 0, bytes: 0, values: 0 }
  let announced = 0

  async function announce({ links: count, bytes, values }: ChainSum, tokens: number | null | undefined): Promise<void> {
    const whole = sum.bytes + bytes
    const isTooLarge = sum.links + count > MAX_CHAIN_LINKS || whole > MAX_CHAIN_BYTES
    if (isTooLarge || sum.values + values > MAX_CHAIN_VALUES) throw chainTooLarge()
    if (whole <= announced) return
    await beforeReading({ bytes: whole - announced, tokens: tokens ?? 0 })
    announced = whole
  }

  function take(found: readonly StoredResponse[]): void {
    for (const link of found) {
      links.push(link)
      sum.links += 1
      sum.bytes += link.bytes
      sum.values += link.jsonValues
    }
  }

  for (let next: string | null = id; next !== null; next = links.at(-1)?.parentId ?? null) {
    const before = links.length
    const copy = STORED_ID.test(next) ? await deps.copies.find(accountId, next) : 'deleted'
    if (copy && copy !== 'deleted') {
      await announce(sumOf([copy], copy.before), copy.tokens)
      take([copy])
    } else if (!copy) {
      const measured = await fromHistory(measureChain(deps.database, accountId, next))
      await announce(sumOf(measured), measured[0]?.tokens)
      const ids = measured.map((link) => link.id)
      take(await fromHistory(findRows(deps.database, accountId, ids)))
    }
    if (links.length === before) return { links, missingId: next, sum }
  }
  return { links, missingId: undefined, sum }
}

type Measured = Pick<StoredResponse, 'bytes' | 'jsonValues'>

function sumOf(links: readonly Measured[], before: ChainSum = { links: 0, bytes: 0, values: 0 }): ChainSum {
  const sum = { ...before }
  for (const { bytes, jsonValues } of links) {
    sum.links += 1
    sum.bytes += bytes
    sum.values += jsonValues
  }
  return sum
}

/** All items of a conversation, oldest first. If there is much to parse, other requests get turns in between. */
export async function itemsOf(links: readonly StoredResponse[]): Promise<JsonObject[]> {
  const items: JsonObject[] = []
  for (const link of links.toReversed()) {
    items.push(...inputItems(link), ...outputItems(link))
    if (link.bytes > MAX_PARSED_AT_ONCE) await ownTurn()
  }
  return items
}

type Resolved = {
  items: JsonValue[]
  /** The size that the referenced items add to the request. */
  bytes: number
  /** Whether referenced reasoning is missing and was omitted. */
  isShortened: boolean
}

/** Properties of a request that refers to stored items. */
type ReferenceTerms = {
  isStoring: boolean
  chain: ChainSum
  beforeReading: BeforeReading
}

/** Replaces references in `items` by the stored items. Throws `not_found` for missing items, `invalid_request` for too many. */
export async function resolveReferences(
  deps: ConversationDeps,
  accountId: string,
  items: readonly JsonValue[],
  { isStoring, chain, beforeReading }: ReferenceTerms,
): Promise<Resolved> {
  const named = items.flatMap((item) => referenceOf(item) ?? [])
  if (named.length === 0) return { items: [...items], bytes: 0, isShortened: false }
  if (named.length > MAX_REFERENCES) {
    throw invalidRequest(`input: names more than ${MAX_REFERENCES} items by their ids.`, 'input')
  }
  const owners = isStoring ? await findOwnersOf(deps, accountId, new Set(named)) : new Map<string, ItemOwner>()
  checkSum(chain, named, (id) => ({ bytes: owners.get(id)?.itemBytes ?? 0, values: 0 }))
  const found = await findItems(deps, accountId, owners, beforeReading)
  const { bytes } = checkSum(chain, named, (id) => found.get(id) ?? { bytes: 0, values: 0 })
  let isShortened = false
  const resolved = items.flatMap((item, index) => {
    const id = referenceOf(item)
    if (id === undefined) return [item]
    const stored = found.get(id)
    if (stored) return [stored.item]
    if (!isReasoningId(id)) throw unknownItem(id, index)
    isShortened = true
    return []
  })
  return { items: resolved, bytes, isShortened }
}

/** The size of all referenced items, each as often as it is named. Throws if too large. */
function checkSum(chain: ChainSum, ids: readonly string[], sizeOf: (id: string) => ItemSize): ItemSize {
  const sum = { bytes: 0, values: 0 }
  for (const id of ids) {
    const { bytes, values } = sizeOf(id)
    sum.bytes += bytes
    sum.values += values
  }
  if (chain.bytes + sum.bytes > MAX_CHAIN_BYTES || chain.values + sum.values > MAX_CHAIN_VALUES) throw chainTooLarge()
  return sum
}

type ItemSize = { bytes: number; values: number }
type FoundItem = ItemSize & { item: JsonObject }

async function findItems(
  deps: ConversationDeps,
  accountId: string,
  wanted: ReadonlyMap<string, ItemOwner>,
  beforeReading: BeforeReading,
): Promise<Map<string, FoundItem>> {
  const owners = Map.groupBy(wanted, ([, { id }]) => id)
  let bytes = 0
  for (const [[, owner]] of owners.values() as Iterable<[[string, ItemOwner]]>) bytes += owner.bytes
  if (bytes > MAX_CHAIN_BYTES) throw chainTooLarge()
  if (bytes > 0) await beforeReading({ bytes, tokens: 0 })
  const items = new Map<string, FoundItem>()
  const ids = [...owners.keys()]
  for (let start = 0; start < ids.length; start += READ_AT_ONCE) {
    const some = ids.slice(start, start + READ_AT_ONCE)
    for (const stored of await Promise.all(some.map((owner) => findStored(deps, accountId, owner)))) {
      if (!stored) continue
      takeItems(stored, new Set(owners.get(stored.id)?.map(([id]) => id)), items)
      if (stored.bytes > MAX_PARSED_AT_ONCE) await ownTurn()
    }
  }
  return items
}

/** Takes the wanted items from an answer. Its input is parsed last, since nearly all referenced items are in the output. */
function takeItems(stored: StoredResponse, wanted: Set<string>, items: Map<string, FoundItem>): void {
  for (const itemsOfOne of [outputItems, inputItems]) {
    if (wanted.size === 0) return
    for (const item of itemsOfOne(stored)) {
      if (typeof item.id !== 'string' || !wanted.delete(item.id)) continue
      const text = JSON.stringify(asWritten(item))
      items.set(item.id, { item, bytes: Buffer.byteLength(text), values: countValues(text) })
    }
  }
}

async function findOwnersOf({ database, copies }: ConversationDeps, accountId: string, ids: ReadonlySet<string>) {
  const known = [...ids].filter((id) => STORED_ID.test(id))
  const copied = await Promise.all(known.map((id) => copies.findOwner(accountId, id)))
  const owners = new Map<string, ItemOwner>()
  for (const [index, id] of known.entries()) {
    const owner = copied[index]
    if (owner !== undefined) owners.set(id, owner)
  }
  const rest = known.filter((id) => !owners.has(id))
  if (rest.length === 0) return owners
  const rows = await fromHistory(findOwners(database, accountId, rest))
  return new Map([...rows, ...owners])
}

/** Applies the time limit to a read from Postgres. Throws `overloaded` if it fails or is too late. */
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

/** Maximum characters of an id in an error message, since an id may be a long text. */
const MAX_SHOWN_CHARS = 128

function unknownItem(id: string, index: number): GatewayError {
  const message =
    `Item with id '${id.slice(0, MAX_SHOWN_CHARS)}' not found. Items are not persisted when \`store\` is set to false. ` +
    'Try again with `store` set to true, or remove this item from your input.'
  return new GatewayError('not_found', message, { param: `input[${index}].id`, code: 'item_not_found' })
}

/** The error for a `previous_response_id` that is missing or another account's. It is a 400 as at OpenAI; for an id in the path, a 404. */
export function unknownPrevious(id: string): GatewayError {
  const message = `Previous response with id '${id.slice(0, MAX_SHOWN_CHARS)}' not found.`
  return new GatewayError('invalid_request', message, {
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  })
}

/** The error for an id in the path. */
export function unknownResponse(id: string): GatewayError {
  return new GatewayError('not_found', `Response with id '${id.slice(0, MAX_SHOWN_CHARS)}' not found.`)
}
