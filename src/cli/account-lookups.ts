/** Operator commands that look at accounts: list, search, and one with its money, keys, people, entries and orders. */
import { ceilingsOf } from '@/accounts/account-limits'
import { type FoundAccount, searchAccounts } from '@/console/administration/account-search'
import { type AccountView, viewAccount } from '@/console/administration/account-view'
import { listOrders } from '@/console/orders/read'
import { formatUsd, nano } from '@/lib/money'
import { type Command, OPERAND, operand, optional, type Values } from './command'
import { shownKey, shownOrder } from './facts'
import { fail } from './failure'
import { PAGE_OPTIONS, printPage, readPage } from './pages'
import type { Services } from './services'
import { readChoice, readText } from './values'

const STATUSES = ['active', 'suspended'] as const
const FILTERS = { status: optional(STATUSES.join('|'), 'only those'), ...PAGE_OPTIONS }

export const ACCOUNT_LOOKUPS: readonly Command[] = [
  {
    words: 'account list',
    help: 'lists accounts with their balance, newest first',
    options: FILTERS,
    prepare: (values) => list(values, undefined),
  },
  {
    words: 'account search',
    help: 'finds accounts by id or by a part of their address or name',
    operand: operand('TEXT', 'what to look for, in any case'),
    options: FILTERS,
    prepare: (values) => list(values, readText(values, OPERAND)),
  },
  {
    words: 'account show',
    help: 'shows one account: money, limits, people, keys, latest entries and orders',
    operand: operand('ID|EMAIL', 'the account'),
    options: {},
    prepare(values) {
      const text = readText(values, OPERAND)
      return async (services) => {
        const { database, ledger, accounts, apiKeys } = services
        const accountId = text.includes('@') ? (await accounts.findByEmail(text))?.accountId : text
        const orders = { list: (id: string, page: object) => listOrders({ database }, id, page) }
        const deps = { database, ledger, accounts, apiKeys, orders }
        const account = accountId === undefined ? undefined : await viewAccount(deps, accountId)
        if (!account) return fail(`no account ${text}`)
        return { output: describe(account, services) }
      }
    },
  },
]

function list(values: Values, text: string | undefined) {
  const status = readChoice(values, 'status', STATUSES)
  const search = { ...readPage(values), ...(text !== undefined && { text }), ...(status && { status }) }
  return async ({ database }: Services) => printPage('accounts', await searchAccounts(database, search), toRow)
}

function toRow({ balance, ...account }: FoundAccount) {
  return { ...account, balanceUsd: formatUsd(balance) }
}

function describe(view: AccountView, { defaultLimits }: Services): Record<string, unknown> {
  const { accountId, name, email, status, createdAt, balance, users, keys, entries, orders } = view
  return {
    accountId,
    name,
    email,
    status,
    createdAt,
    // Null where Redis does not answer: the history is a moment behind, and this is what can be spent.
    balanceUsd: balance ? formatUsd(nano(balance.available + balance.held)) : null,
    heldUsd: balance ? formatUsd(balance.held) : null,
    spentUsd: balance ? formatUsd(balance.spent) : null,
    spentThisMonthUsd: balance ? formatUsd(balance.spentThisMonth) : null,
    limits: ceilingsOf(view, defaultLimits),
    users: users.map(({ userId, email: address, role }) => ({ userId, email: address, role })),
    keys: keys.map(shownKey),
    entries: entries.map(({ amount, ...entry }) => ({ ...entry, amountUsd: formatUsd(amount) })),
    orders: orders.map(shownOrder),
  }
}
