/** Copies of the newest small answers in Redis, where any gateway finds them at once; bounded, and dispensable. */

import { isJsonObject, parseJson } from '@/lib/json'
import type { Logger } from '@/lib/logger'
import { SHARED } from '@/limits/shared-resources'
import { STORED_ID } from './limits'
import type { NewResponse, StoredResponse } from './stored-items'

/** The commands that are needed of the store. */
export type CopyStore = {
  set(name: string, value: string, ttlSeconds: number): Promise<unknown>
  get(name: string): Promise<string | null>
  delete(name: string): Promise<unknown>
  /** Whether its memory is wanted for the ledger. Without I/O. */
  isCrowded(): boolean
}

/** The answer that has an item. */
export type ItemOwner = {
  id: string
  /** Of all of the answer. */
  bytes: number
  /** Of the item alone. */
  itemBytes: number
}

/** What is known of an answer here: a copy, that it was deleted, or nothing. */
type Copied = StoredResponse | 'deleted' | undefined

export interface Copies {
  /** Whether there is room for it. To be asked right before {@link put}. */
  hasRoom(stored: StoredResponse): boolean
  /** Whether it is there now. Never rejects. */
  put(stored: NewResponse): Promise<boolean>
  find(accountId: string, id: string): Promise<Copied>
  /** The answer that has an item, and what both are to read; undefined if that is not known here. */
  findOwner(accountId: string, itemId: string): Promise<ItemOwner | undefined>
  /** Notes that an answer is deleted, for those who find it elsewhere. Rejects if that can't be noted. */
  bury(accountId: string, id: string): Promise<void>
  /** Notes that all that an account has by now is deleted. Likewise. */
  buryAll(accountId: string, nowMs: number): Promise<void>
  /** Whether an answer was deleted, one way or the other. Rejects if that is unknown. */
  isBuried(stored: StoredResponse): Promise<boolean>
}

/** How long copies last, and the notes that something was deleted: long enough for the history to have caught up. */
export const COPY_SECONDS = 600
const MAX_COPY_BYTES = 64 * 1024
/** Of all copies that one process has made in the last {@link COPY_SECONDS}, and of an account's among them. */
const { perProcess: MAX_COPIES_BYTES, perAccount: MAX_ACCOUNT_BYTES } = SHARED.storedCopies
const WINDOW_MS = COPY_SECONDS * 1000
/** A deleted answer's copy. */
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
        // The copy may exist all the same, and an answer that is not stored must not be found.
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

/** Those that a later request may name. */
function namedItems<Item extends { id: string }>(items: readonly Item[]): Item[] {
  return items.filter(({ id }) => STORED_ID.test(id))
}

/** Ids have no colon, so no id can be taken for another name. */
const copyName = (accountId: string, id: string): string => `resp:${accountId}:${id}`
const itemName = (accountId: string, itemId: string): string => `resp:${accountId}:item:${itemId}`
const allName = (accountId: string): string => `resp:${accountId}:all:deleted`

/** The two texts as they are, behind a line that says where the first one ends. */
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
