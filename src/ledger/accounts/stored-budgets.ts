/** The budgets of an account as stored in Redis and returned by scripts. */
import { BUDGET_WINDOWS, type BudgetWindow } from '@/ledger/budgets'
import { integerOf, listOf, type ReplyItem, wordOf } from '@/ledger/store/reply'

type StoredWindow = { at: number; spent: number; limit: number | null; grantAt: number; grant: number }

export type StoredBudget = { held: number; windows: Record<BudgetWindow, StoredWindow> }

/** All budgets of an account: entries by hash field, and by id the holds that count in them. */
export type StoredBudgets = {
  version: number
  entries: Map<string, StoredBudget>
  holds: Map<string, { keyId: string; memberId: string; amount: number }>
}

/** The number for "no limit" in an entry. */
export const UNLIMITED = -1

/** Parses the fields and values of a script's reply. Undefined if the account has no budgets. */
export function readBudgets(fields: readonly ReplyItem[]): StoredBudgets | undefined {
  if (fields.length === 0) return undefined
  const budgets: StoredBudgets = { version: 0, entries: new Map(), holds: new Map() }
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const field = wordOf(fields[index])
    const value = fields[index + 1]
    if (field === 'version') budgets.version = Number(wordOf(value))
    else if (field.startsWith('hold:')) {
      const [keyId = '', memberId = '', amount] = wordOf(value).split(' ')
      budgets.holds.set(field.slice('hold:'.length), { keyId, memberId, amount: Number(amount) })
    } else budgets.entries.set(field, readEntry(listOf(value).map(integerOf)))
  }
  return budgets
}

function readEntry([held = 0, ...numbers]: readonly number[]): StoredBudget {
  const windows = BUDGET_WINDOWS.map((window, index) => {
    const [at = 0, spent = 0, limit = 0, grantAt = 0, grant = 0] = numbers.slice(index * 5, index * 5 + 5)
    return [window, { at, spent, limit: limit === UNLIMITED ? null : limit, grantAt, grant }] as const
  })
  return { held, windows: Object.fromEntries(windows) as Record<BudgetWindow, StoredWindow> }
}
