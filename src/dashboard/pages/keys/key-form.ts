/** The fields of an API key on their way between a form and the server. Only what a person has changed is sent. */
import type { KeyBody } from './keys-data'

/** Numbers are '' where a key has no limit of its own; `expiresAt` is a day, yyyy-mm-dd, '' for never. */
export type KeyFields = {
  name: string
  monthlyBudgetUsd: string
  expiresAt: string
  requestsPerMinute: number | ''
  tokensPerMinute: number | ''
  concurrency: number | ''
  allowedModels: string[]
  allowedProviders: string[]
  /** One in a line. */
  allowedAddresses: string
  withoutMyAddress: boolean
  /** With commas or blanks between them. */
  tags: string
}

export const EMPTY_FIELDS: KeyFields = {
  name: '',
  monthlyBudgetUsd: '',
  expiresAt: '',
  requestsPerMinute: '',
  tokensPerMinute: '',
  concurrency: '',
  allowedModels: [],
  allowedProviders: [],
  allowedAddresses: '',
  withoutMyAddress: false,
  tags: '',
}

/** The fields of a key that exists. */
export function fieldsOf({ name, limits, tags }: KeyBody): KeyFields {
  return {
    name,
    monthlyBudgetUsd: limits.monthlyBudgetUsd ?? '',
    expiresAt: limits.expiresAt === null ? '' : dayOf(new Date(limits.expiresAt)),
    requestsPerMinute: limits.requestsPerMinute ?? '',
    tokensPerMinute: limits.tokensPerMinute ?? '',
    concurrency: limits.concurrency ?? '',
    allowedModels: limits.allowedModels ?? [],
    allowedProviders: limits.allowedProviders ?? [],
    allowedAddresses: limits.allowedAddresses?.join('\n') ?? '',
    withoutMyAddress: false,
    tags: tags?.join(', ') ?? '',
  }
}

type KeyChanges = {
  name?: string
  monthlyBudgetUsd?: string | null
  expiresAt?: string | null
  requestsPerMinute?: number | null
  tokensPerMinute?: number | null
  concurrency?: number | null
  allowedModels?: string[] | null
  allowedProviders?: string[] | null
  allowedAddresses?: string[] | null
  withoutMyAddress?: true
  tags?: string[] | null
}

/** What has become different from `before`, in the server's words. */
export function changesFrom(before: KeyFields, now: KeyFields): KeyChanges {
  const changes: KeyChanges = {}
  if (now.name.trim() !== before.name) changes.name = now.name.trim()
  if (now.monthlyBudgetUsd.trim() !== before.monthlyBudgetUsd) {
    changes.monthlyBudgetUsd = now.monthlyBudgetUsd.trim() || null
  }
  if (now.expiresAt !== before.expiresAt) changes.expiresAt = now.expiresAt === '' ? null : endOfDay(now.expiresAt)
  for (const count of ['requestsPerMinute', 'tokensPerMinute', 'concurrency'] as const) {
    if (now[count] !== before[count]) changes[count] = now[count] === '' ? null : now[count]
  }
  for (const list of ['allowedModels', 'allowedProviders'] as const) {
    if (now[list].join() !== before[list].join()) changes[list] = now[list].length === 0 ? null : now[list]
  }
  if (now.allowedAddresses.trim() !== before.allowedAddresses) {
    changes.allowedAddresses = linesOf(now.allowedAddresses)
    if (now.withoutMyAddress) changes.withoutMyAddress = true
  }
  if (now.tags.trim() !== before.tags) changes.tags = linesOf(now.tags)
  return changes
}

/** What a text field lists, one in a line or with commas between them; null if there is nothing. */
export function linesOf(text: string): string[] | null {
  const lines = text.split(/[\s,]+/).filter((line) => line !== '')
  return lines.length === 0 ? null : lines
}

const AMOUNT = /^\d{1,7}(\.\d{1,9})?$/

/** Faults that are known without the server. */
export const CHECKS = {
  name: (name: string) => (name.trim() === '' ? 'Give the key a name, such as the program that will use it.' : null),
  monthlyBudgetUsd: (text: string) =>
    text.trim() === '' || AMOUNT.test(text.trim()) ? null : 'An amount in USD, such as 25 or 25.50.',
  expiresAt: (day: string) => (day !== '' && day < today() ? 'A day that is not past.' : null),
}

/** Today in the viewer's zone, yyyy-mm-dd. */
export function today(): string {
  return dayOf(new Date())
}

function dayOf(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** A key that expires on a day still works on it, until midnight where the viewer is. */
function endOfDay(day: string): string {
  return new Date(`${day}T23:59:59.999`).toISOString()
}
