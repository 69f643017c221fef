import { invalidRequest } from '@/chat/error'
import type { Database } from '@/db/client'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { asWritten, rememberNumbers } from '@/lib/json-source/as-written'
import { fromHistory, unknownResponse } from './conversation'
import type { Copies } from './copies'
import { MAX_CHAIN_LINKS, STORED_ID } from './limits'
import { findPlaces, findRow, type Link, measureChain, readInput } from './rows'
import { inputItems, outputItems, type StoredResponse } from './stored-items'

type PageDeps = { database: Database; copies: Pick<Copies, 'find'> }

/** A requested page: its maximum number of items, and the id of the item before its first. */
export type PageRequest = { order: 'asc' | 'desc'; limit: number; after: string | null }

/** The items of a page. A page of large items is shorter. */
export type InputPage = { items: JsonObject[]; hasMore: boolean; bytes: number }

/** Maximum size of a page. A page ends with the item that exceeds it. */
const MAX_PAGE_BYTES = 1024 * 1024
const MAX_TRIES = 10

/** One answer of the conversation, with its items if they are in memory, else with their number. */
type Part = {
  id: string
  /** The input items; undefined if they are not in memory. */
  input: JsonObject[] | undefined
  output?: JsonObject[]
  inputItems: number
  outputItems: number
}

/** Reads a page of a stored request's input, after its earlier conversation. Throws `not_found`, or `invalid_request` for a bad `after`. */
export async function readInputPage(
  deps: PageDeps,
  accountId: string,
  id: string,
  request: PageRequest,
): Promise<InputPage> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const page = await readPage(deps, accountId, id, request)
    if (page) return page
  }
  throw unknownResponse(id)
}

/** Reads a page; undefined if an answer of the conversation was deleted meanwhile, so that the conversation now begins after it. */
async function readPage(
  deps: PageDeps,
  accountId: string,
  id: string,
  { order, limit, after }: PageRequest,
): Promise<InputPage | undefined> {
  const parts = await findParts(deps, accountId, id)
  // The pages include the newest answer's input, but not its output.
  const newest = parts.at(-1)
  if (!newest) throw unknownResponse(id)
  newest.outputItems = 0
  const count = parts.reduce((sum, part) => sum + part.inputItems + part.outputItems, 0)
  const step = order === 'asc' ? 1 : -1
  let at = order === 'asc' ? 0 : count - 1
  if (after !== null) {
    const places = await placesOf(deps, accountId, parts, after)
    if (places.length === 0) throw invalidRequest('after: no such item in this list.', 'after')
    at = (order === 'asc' ? Math.min(...places) : Math.max(...places)) + step
  }
  const items: JsonObject[] = []
  let bytes = 0
  const isMore = () => at >= 0 && at < count
  while (isMore() && items.length < limit && bytes < MAX_PAGE_BYTES) {
    const run = await readRun(deps, accountId, runAt(parts, at, step * (limit - items.length)))
    if (run.length === 0) return undefined
    for (const item of order === 'asc' ? run : run.toReversed()) {
      if (bytes >= MAX_PAGE_BYTES) break
      items.push(item)
      bytes += Buffer.byteLength(JSON.stringify(asWritten(item)))
      at += step
    }
  }
  return { items, hasMore: isMore(), bytes }
}

/** The answers of the conversation, oldest first. The newest answers may be copies in Redis that Postgres doesn't have yet. */
async function findParts({ database, copies }: PageDeps, accountId: string, id: string): Promise<Part[]> {
  const parts: Part[] = []
  let next: string | null = id
  while (next !== null && STORED_ID.test(next) && parts.length <= MAX_CHAIN_LINKS) {
    const copy = await copies.find(accountId, next)
    if (copy === 'deleted') break
    const links: Link[] = await fromHistory(measureChain(database, accountId, next))
    for (const link of links) parts.push({ ...link, input: undefined })
    if (links.length === 0) {
      if (!copy) break
      parts.push(inMemory(copy))
    }
    next = (links.length === 0 && copy ? copy.parentId : links.at(-1)?.parentId) ?? null
  }
  return parts.reverse()
}

function inMemory(stored: StoredResponse): Part {
  const [input, output] = [inputItems(stored), outputItems(stored)]
  return { id: stored.id, input, output, inputItems: input.length, outputItems: output.length }
}

/** Consecutive items of one side of an answer: `first` to `last`, from 0. */
type Run = { part: Part; side: 'input' | 'output'; first: number; last: number }

function runAt(parts: readonly Part[], at: number, wanted: number): Run {
  let index = at
  for (const part of parts) {
    for (const side of ['input', 'output'] as const) {
      const count = side === 'input' ? part.inputItems : part.outputItems
      if (index < count) {
        const [first, last] =
          wanted > 0 ? [index, Math.min(count, index + wanted) - 1] : [Math.max(0, index + wanted + 1), index]
        return { part, side, first, last }
      }
      index -= count
    }
  }
  throw new RangeError('a place beyond the list')
}

async function readRun(
  { database }: PageDeps,
  accountId: string,
  { part, side, first, last }: Run,
): Promise<JsonObject[]> {
  const known: JsonObject[] | undefined = side === 'input' ? part.input : part.output
  if (known) return known.slice(first, last + 1)
  if (side === 'input') {
    const texts = await fromHistory(readInput(database, accountId, part.id, first + 1, last + 1))
    return texts.map(readItem).filter((item) => item !== undefined)
  }
  const row = await fromHistory(findRow(database, accountId, part.id))
  const output = row ? outputItems(row) : []
  part.output = output
  return output.slice(first, last + 1)
}

async function placesOf({ database }: PageDeps, accountId: string, parts: readonly Part[], itemId: string) {
  const stored = parts.filter(({ input }) => !input).map(({ id }) => id)
  const known = STORED_ID.test(itemId) ? await fromHistory(findPlaces(database, accountId, itemId, stored)) : []
  const placeIn = new Map(known.map(({ responseId, place }) => [responseId, place]))
  const places: number[] = []
  let start = 0
  for (const { id, input, output = [], inputItems: ofInput, outputItems: ofOutput } of parts) {
    const place = input ? [...input, ...output].findIndex((item) => item.id === itemId) : (placeIn.get(id) ?? -1)
    if (place >= 0 && place < ofInput + ofOutput) places.push(start + place)
    start += ofInput + ofOutput
  }
  return places
}

function readItem(text: string): JsonObject | undefined {
  const item = parseJson(text)
  if (!isJsonObject(item)) return undefined
  rememberNumbers(item, text)
  return item
}
