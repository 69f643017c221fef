/** Reads replies of the ledger's scripts and writes their arguments: only integers, which are checked here and in the scripts. */
import { AssertionError, assert } from '@/lib/assert'
import { MAX_NANO, type Nano, nano } from '@/lib/money'

/** Maximum lifetime of a hold without a renewal: a day. */
export const MAX_TTL_MS = 86_400_000

export type ReplyItem = string | number | ReplyItem[]

/** Asserts that a reply is a list. */
export function listOf(reply: unknown): ReplyItem[] {
  assert(Array.isArray(reply), 'a script returned no list')
  return reply
}

/** The items of a reply that is a list or a text separated by spaces. */
export function itemsOf(reply: unknown): ReplyItem[] {
  return typeof reply === 'string' ? reply.split(' ') : listOf(reply)
}

/** Asserts that a reply or an item is a text. */
export function wordOf(item: unknown): string {
  assert(typeof item === 'string', 'a script returned no text')
  return item
}

/** An integer, as a number or as text. */
export function integerOf(item: ReplyItem | undefined): number {
  const value = typeof item === 'string' && item !== '' ? Number(item) : item
  assert(typeof value === 'number' && Number.isSafeInteger(value), 'a script returned no integer')
  return value
}

/** An amount in nano-USD. */
export function nanoOf(item: ReplyItem | undefined): Nano {
  return nano(integerOf(item))
}

/** Writes an integer between `least` and `most` for a script; throws otherwise. */
export function integerText(value: number, name: string, least: number, most: number): string {
  if (!Number.isSafeInteger(value) || value < least || value > most)
    throw new AssertionError(`${name} out of range: ${value}`)
  return String(value)
}

/** Writes a non-negative amount. */
export function amountText(value: Nano, name: string): string {
  return integerText(value, name, 0, MAX_NANO)
}
