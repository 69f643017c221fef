/** Finds and reads elements of a CAMT.053 entry. */
import { MAX_CENTS } from '@/console/administration/statements/statement'
import type { Element } from './parse-entries'

/** All elements at a path of names below `element`. */
export function allAt(element: Element | undefined, ...path: string[]): Element[] {
  let found = element ? [element] : []
  for (const name of path) found = found.flatMap(({ children }) => children.filter((child) => child.name === name))
  return found
}

/** The text of the first element at a path that has one. */
export function textAt(element: Element | undefined, ...path: string[]): string | undefined {
  return allAt(element, ...path)
    .map(({ text }) => text.trim())
    .find((text) => text !== '')
}

/** An amount of money with its currency; `cents` without sign. */
export type Amount = { cents: number; currency: string }

/** Exact, without floating point: undefined if the amount has a part of a cent, is too large or has no currency. */
export function readAmount(element: Element | undefined): Amount | undefined {
  const match = /^\+?(\d{0,18})(?:\.(\d{0,18}))?$/.exec(element?.text.trim() ?? '')
  const currency = element?.currency ?? ''
  if (!match || !/^[A-Z]{3}$/.test(currency)) return undefined
  const [, whole = '', decimals = ''] = match
  const fraction = decimals.replace(/0+$/, '')
  if ((whole === '' && decimals === '') || fraction.length > 2) return undefined
  const cents = Number(`${whole}${fraction.padEnd(2, '0')}`)
  return cents > MAX_CENTS ? undefined : { cents, currency }
}

/** The day of a `Dt` or `DtTm` in the bank's time zone. Undefined if it is missing or invalid. */
export function readDay(element: Element | undefined): string | undefined {
  const day = /^(\d{4}-\d\d-\d\d)(?:$|[TZ+-])/.exec(textAt(element, 'Dt') ?? textAt(element, 'DtTm') ?? '')?.[1]
  if (day === undefined || day < '2000' || day >= '2100') return undefined
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day) ? day : undefined
}

/** Texts by which banks mark a missing reference. */
const NO_REFERENCE = /^(?:non-?ref|not ?provided|none|n\/a|0+|-*)$/i

/** A reference, unless it is a text that marks a missing one. */
export function referenceAt(element: Element | undefined, ...path: string[]): string | undefined {
  const text = textAt(element, ...path)
  return text === undefined || NO_REFERENCE.test(text) ? undefined : text
}
