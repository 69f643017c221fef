/** The values of settings forms, and the changes that a person made in them. */
import type { Field, FormValue, Kind } from '@/people/keys/fields'

/** For each kind of setting: `of` converts the server's value to the form's, `read` converts it back. */
const KINDS: { [K in Kind]: { of(value: unknown): FormValue<K>; read(value: FormValue<K>): unknown } } = {
  count: { of: (count) => (typeof count === 'number' ? count : ''), read: (count) => (count === '' ? null : count) },
  usd: { of: (amount) => String(amount ?? ''), read: (text) => text.trim() || null },
  moment: {
    of: (moment) => (moment == null ? '' : dayOf(new Date(String(moment)))),
    read: (day) => (day === '' ? null : endOfDay(day)),
  },
  ids: { of: (ids) => (Array.isArray(ids) ? ids : []), read: (ids) => (ids.length === 0 ? null : ids) },
  networks: { of: (list) => (Array.isArray(list) ? list.join('\n') : ''), read: linesOf },
  tags: { of: (list) => (Array.isArray(list) ? list.join(', ') : ''), read: linesOf },
  regions: { of: (list) => (Array.isArray(list) ? list.join(', ') : ''), read: linesOf },
  flag: { of: Boolean, read: (is) => is },
}

type Form = Record<string, unknown>

/** The form's values for the server's settings; empty values if there are no settings. */
export function formOf(rows: readonly Field[], settings: Form = {}): Form {
  return Object.fromEntries(rows.map(({ kind, wire }) => [wire, KINDS[kind].of(settings[wire])]))
}

/** The labels of the fields by their names. */
export function labelsOf(rows: readonly Field[]): Record<string, string> {
  return Object.fromEntries(rows.map(({ wire, label }) => [wire, label]))
}

/** The fields whose values differ from `before`, with the server's names and values. */
export function changesIn(rows: readonly Field[], before: Form, now: Form): Form {
  const changed = rows.filter(({ wire }) => JSON.stringify(trimmed(now[wire])) !== JSON.stringify(before[wire]))
  return Object.fromEntries(
    changed.map(({ kind, wire }) => [wire, (KINDS[kind].read as (value: unknown) => unknown)(now[wire])]),
  )
}

function trimmed(value: unknown): unknown {
  return typeof value === 'string' ? value.trim() : value
}

const AMOUNT = /^\d{1,7}(\.\d{1,9})?$/

/** Checks in the browser, by kind of setting; each returns an error or null. */
const CHECKS: Partial<Record<Kind, (value: string, before: string) => string | null>> = {
  usd: (text) => (text.trim() === '' || AMOUNT.test(text.trim()) ? null : 'An amount in USD, such as 25 or 25.50.'),
  // A past day is no error if it was saved before: then the other fields can still be changed.
  moment: (day, before) => (day === '' || day === before || day >= today() ? null : 'A day that is not past.'),
}

/** The checks of a form whose first values were `before`. */
export function checksOf(rows: readonly Field[], before: Form): Record<string, (value: string) => string | null> {
  const checked = rows.flatMap(({ kind, wire }) => {
    const check = CHECKS[kind]
    return check ? [[wire, (value: string) => check(value, String(before[wire]))] as const] : []
  })
  return Object.fromEntries(checked)
}

/** The entries of a text field, separated by lines or commas; null if it is empty. */
export function linesOf(text: string): string[] | null {
  const lines = text.split(/[\s,]+/).filter((line) => line !== '')
  return lines.length === 0 ? null : lines
}

/** Today in the viewer's zone, yyyy-mm-dd. */
export function today(): string {
  return dayOf(new Date())
}

function dayOf(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** A key that expires on a day still works on that day, until midnight in the viewer's time zone. */
function endOfDay(day: string): string {
  return new Date(`${day}T23:59:59.999`).toISOString()
}
