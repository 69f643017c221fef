/** Reads replies of the ledger's scripts and writes their arguments: integers only, checked on this side too. */
import { AssertionError, assert } from '@/lib/assert'
import { MAX_NANO, type Nano, nano } from '@/lib/money'

/** The longest a hold may live without a renewal: a day. */
export const MAX_TTL_MS = 86_400_000

/** An item of a script's reply. */
export type ReplyItem = string | number | ReplyItem[]

/** A reply that is a list. */
export function listOf(reply: unknown): ReplyItem[] {
  assert(Array.isArray(reply), 'a script returned no list')
  return reply
}

/** The items of a reply that is a list, or a text that has them with a blank between each two. */
export function itemsOf(reply: unknown): ReplyItem[] {
  return typeof reply === 'string' ? reply.split(' ') : listOf(reply)
}

/** A reply, or an item of one, that is a word. */
export function wordOf(item: unknown): string {
  assert(typeof item === 'string', 'a script returned no word')
  return item
}

/** An item that is an integer, as a number or as text. */
export function integerOf(item: ReplyItem | undefined): number {
  const value = typeof item === 'string' && item !== '' ? Number(item) : item
  assert(typeof value === 'number' && Number.isSafeInteger(value), 'a script returned no integer')
  return value
}

/** An item that is an amount of nano-USD. */
export function nanoOf(item: ReplyItem | undefined): Nano {
  return nano(integerOf(item))
}

/** Writes an integer between `least` and `most` for a script; anything else is a bug of the caller. */
export function integerText(value: number, name: string, least: number, most: number): string {
  if (!Number.isSafeInteger(value) || value < least || value > most)
    throw new AssertionError(`${name} out of range: ${value}`)
  return String(value)
}

/** Writes an amount that may not be negative. */
export function amountText(value: Nano, name: string): string {
  return integerText(value, name, 0, MAX_NANO)
}
