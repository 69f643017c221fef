/** Copies of the newest small answers in Redis, so that any gateway finds them at once; bounded and optional. */

import { isJsonObject, parseJson } from '@/lib/json'
import type { Logger } from '@/lib/logger'
import { SHARED } from '@/limits/shared-resources'
import { STORED_ID } from './limits'
import type { NewResponse, StoredResponse } from './stored-items'

export type CopyStore = {
  set(name: string, value: string, ttlSeconds: number): Promise<unknown>
  get(name: string): Promise<string | null>
  delete(name: string): Promise<unknown>
  /** Whether Redis has too little memory left for copies, because the ledger needs it. Does no I/O. */
  isCrowded(): boolean
}

export type ItemOwner = {
  id: string
  /** Size of the whole answer. */
  bytes: number
  /** Size of only the item. */
  itemBytes: number
}

/** A copy, a mark that the answer was deleted, or undefined. */
type Copied = StoredResponse | 'deleted' | undefined

export interface Copies {
  /** Whether a copy of this answer fits into the limits. Call it right before {@link put}. */
  hasRoom(stored: StoredResponse): boolean
  /** Stores a copy of the answer. Returns whether the copy now exists. Never rejects. */
  put(stored: NewResponse): Promise<boolean>
  find(accountId: string, id: string): Promise<Copied>
  /** The answer that has an item, with the sizes of both; undefined if no copy has the item. */
  findOwner(accountId: string, itemId: string): Promise<ItemOwner | undefined>
  /** Marks an answer as deleted, so that no gateway uses a copy of it. Rejects on failure. */
  bury(accountId: string, id: string): Promise<void>
  /** Notes that all of an account's answers so far are deleted. Rejects on failure. */
  buryAll(accountId: string, nowMs: number): Promise<void>
  /** Whether an answer was deleted, alone or with all answers of its account. Rejects if that is unknown. */
  isBuried(stored: StoredResponse): Promise<boolean>
}

/** Lifetime of copies and of notes about deletions: longer than Postgres needs to catch up. */
export const COPY_SECONDS = 600
const MAX_COPY_BYTES = 64 * 1024
/** The most bytes of copies that one process writes within {@link COPY_SECONDS}: in total, and for each account. */
const { perProcess: MAX_COPIES_BYTES, perAccount: MAX_ACCOUNT_BYTES } = SHARED.storedCopies
const WINDOW_MS = COPY_SECONDS * 1000
const DELETED = ''

/** Creates the copies of one process. */
export function createCopies(store: CopyStore, nowMs: () => number, logger: Logger): Copies {
  let windowEndsMs = 0
  let windowBytes = 0
  const bytesOf = new Map<string, number>()

  function hasRoom({ accountId, bytes }: StoredResponse): boolean {
    if (bytes > MAX_COPY_BYTES || store.isCrowded()) return false
    if (nowMs() >= windowEndsMs) {
      windowEndsMs = nowMs() + WINDOW_MS
      windowBytes = 0
      bytesOf.clear()
    }
    return windowBytes + bytes <= MAX_COPIES_BYTES && (bytesOf.get(accountId) ?? 0) + bytes <= MAX_ACCOUNT_BYTES
  }

  return {
    hasRoom,
    async put({ items, inputItems, outputItems: _, ...stored }) {
      const { accountId, id } = stored
      windowBytes += stored.bytes
      bytesOf.set(accountId, (bytesOf.get(accountId) ?? 0) + stored.bytes)
      const seconds = Math.min(COPY_SECONDS, Math.floor((stored.expiresMs - nowMs()) / 1000))
      try {
        await Promise.all([
          store.set(copyName(accountId, id), writeCopy(stored), seconds),
          ...namedItems(items.slice(inputItems)).map((item) =>
            store.set(itemName(accountId, item.id), `${id} ${stored.bytes} ${item.bytes}`, seconds),
          ),
        ])
        return true
      } catch (error) {
        logger.debug('stored_response_not_copied', { error })
        // The copy may have been written despite the error, and an answer that is not stored must not be found.
        store.delete(copyName(accountId, id)).catch(() => undefined)
        return false
      }
    },
    async find(accountId, id) {
      const text = await store.get(copyName(accountId, id)).catch(() => null)
      if (text === null) return undefined
      if (text === DELETED) return 'deleted'
      const stored = readCopy(text)
      return stored && stored.expiresMs > nowMs() ? stored : undefined
    },
    async findOwner(accountId, itemId) {
      const text = await store.get(itemName(accountId, itemId)).catch(() => null)
      const [id = '', bytes, itemBytes] = text?.split(' ') ?? []
      return STORED_ID.test(id) ? { id, bytes: Number(bytes), itemBytes: Number(itemBytes) } : undefined
    },
    async bury(accountId, id) {
      await store.set(copyName(accountId, id), DELETED, COPY_SECONDS)
    },
    async buryAll(accountId, atMs) {
      await store.set(allName(accountId), String(atMs), COPY_SECONDS)
    },
    async isBuried({ accountId, id, createdMs }) {
      const [copy, allAtMs] = await Promise.all([store.get(copyName(accountId, id)), store.get(allName(accountId))])
      return copy === DELETED || createdMs <= Number(allAtMs ?? 0)
    },
  }
}

function namedItems<Item extends { id: string }>(items: readonly Item[]): Item[] {
  return items.filter(({ id }) => STORED_ID.test(id))
}

/** Redis keys of copies and items. Ids contain no colon, so no answer's key equals an item's. */
const copyName = (accountId: string, id: string): string => `resp:${accountId}:${id}`
const itemName = (accountId: string, itemId: string): string => `resp:${accountId}:item:${itemId}`
const allName = (accountId: string): string => `resp:${accountId}:all:deleted`

/** A copy as text: a line of JSON with the length of `input`, then `input` and `answer` unchanged. */
function writeCopy({ input, answer, ...rest }: StoredResponse): string {
  return `${JSON.stringify({ ...rest, inputChars: input.length })}\n${input}${answer}`
}

function readCopy(text: string): StoredResponse | undefined {
  const end = text.indexOf('\n')
  const head = parseJson(text.slice(0, end))
  if (!isJsonObject(head)) return undefined
  const { inputChars, ...rest } = head
  const middle = end + 1 + Number(inputChars)
  return {
    ...(rest as Omit<StoredResponse, 'input' | 'answer'>),
    input: text.slice(end + 1, middle),
    answer: text.slice(middle),
  }
}
