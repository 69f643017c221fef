/** Operator commands for accounts and credit: find, show, create, suspend, activate, set limits, add credit. */
import { ceilingsOf, changeAccountLimits } from '@/accounts/account-limits'
import { movableWords } from '@/accounts/transfers/movable'
import { type FoundAccount, searchAccounts } from '@/console/administration/account-search'
import { type AccountView, viewAccount } from '@/console/administration/account-view'
import { listOrders } from '@/console/orders/search'
import type { AccountLimits } from '@/ledger/outcomes'
import { formatUsd, nano, nanoToUsd } from '@/lib/money'
import { type Command, OPERAND, operand, optional, required, type Values } from './command'
import { fail } from './failure'
import { PAGE_OPTIONS, printPage, readPage, shownKey, shownOrder } from './pages'
import type { Services } from './services'
import { MAX_LIMITS, readChoice, readEmail, readOptionalCount, readText, readUsd } from './values'

export const ACCOUNT_COMMANDS: readonly Command[] = [
  {
    words: 'account create',
    help: 'creates an account without credit',
    mayBeginEmpty: true,
    options: { email: required('E', 'unique among accounts'), name: required('N', 'shown to its users') },
    prepare(values) {
      const account = { email: readEmail(values, 'email'), name: readText(values, 'name') }
      return async ({ accounts, by }) => {
        const outcome = await accounts.create(account, by)
        if (outcome.kind === 'email_taken') fail(`an account with the address ${account.email} exists already`)
        return { output: { accountId: outcome.accountId } }
      }
    },
  },
  statusCommand('suspend', 'suspended', 'refuses all requests of an account at once'),
  statusCommand('activate', 'active', 'accepts requests of a suspended account again'),
  {
    words: 'account limits',
    help: 'sets the limits of all keys of an account together; `default` = the catalogue’s',
    options: {
      account: required('ID', 'the account'),
      'requests-per-minute': optional('n', 'left out, it stays'),
      'tokens-per-minute': optional('n', 'left out, it stays'),
      concurrency: optional('n', 'requests at once; left out, it stays'),
      reason: required('R', 'kept in the audit log'),
    },
    prepare(values) {
      const accountId = readText(values, 'account')
      const limits = {
        ...readLimit(values, 'requests-per-minute', 'requestsPerMinute'),
        ...readLimit(values, 'tokens-per-minute', 'tokensPerMinute'),
        ...readLimit(values, 'concurrency', 'concurrency'),
      }
      const change = { accountId, limits, reason: readText(values, 'reason') }
      return async ({ database, ledger, accounts, defaultLimits, by }) => {
        await changeAccountLimits(database, ledger, { ...change, by })
        const account = await accounts.find(accountId)
        if (!account) fail(`no account ${accountId}`)
        return { output: { accountId, ...ceilingsOf(account, defaultLimits) } }
      }
    },
  },
  {
    words: 'credit add',
    help: 'adds credit once per reference; a negative amount takes it back',
    options: {
      account: required('ID', 'the account'),
      usd: required('USD', 'e.g. 10.00'),
      reference: required('R', 'e.g. an invoice number; adding it again changes nothing'),
      'other-accounts': optional('allow', 'credits by a reference that another account was credited by'),
      'below-zero': optional(
        'allow',
        'takes back more than the account has, or than its payers can no longer take back',
      ),
    },
    prepare(values) {
      const accountId = readText(values, 'account')
      const amount = readUsd(values, 'usd')
      const isUnique = !isAllowed(values, 'other-accounts')
      const isCovered = !isAllowed(values, 'below-zero')
      const credit = { accountId, amount, reference: readText(values, 'reference'), isUnique, isCovered }
      return async (services) => {
        const outcome = await services.credits.addCredit(credit, services.by)
        switch (outcome.kind) {
          case 'credited':
          case 'exists':
            return { output: { balanceUsd: await balanceUsd(services, accountId) } }
          case 'recorded':
            return fail(
              `the credit is recorded as ${outcome.entryId}, but the ledger cannot be told now; a running gateway will`,
            )
          case 'unknown_account':
            return fail(`no account ${accountId}`)
          case 'reference_taken':
            return fail(`the reference ${credit.reference} was used for ${nanoToUsd(outcome.amount)} USD`)
          case 'reference_elsewhere':
            return fail(
              `the reference ${credit.reference} was used for the account ${outcome.accountId}; if that is right, say --other-accounts allow`,
            )
          case 'insufficient':
            return fail(
              `the account has only ${nanoToUsd(outcome.available)} USD available; to go below zero, say --below-zero allow`,
            )
          case 'reversible':
            return fail(`${movableWords(outcome)} To take more, say --below-zero allow`)
          case 'out_of_range':
            return fail('the balance would exceed 9000000 USD')
        }
      }
    },
  },
]

function isAllowed(values: Values, option: string): boolean {
  if (values[option] === undefined) return false
  return values[option] === 'allow' || fail(`--${option} can only be: allow`)
}

function readLimit(values: Values, option: string, name: keyof typeof MAX_LIMITS): Partial<AccountLimits> {
  if (values[option] === undefined) return {}
  return { [name]: values[option] === 'default' ? null : readOptionalCount(values, option, MAX_LIMITS[name]) }
}

function statusCommand(verb: string, status: 'active' | 'suspended', help: string): Command {
  return {
    words: `account ${verb}`,
    help,
    options: { account: required('ID', 'the account') },
    prepare(values) {
      const accountId = readText(values, 'account')
      return async ({ accounts, by }) => {
        const reason = 'by command'
        if ((await accounts.setStatus(accountId, status, { by, reason })) === 'unknown_account')
          fail(`no account ${accountId}`)
        return { output: { accountId, status } }
      }
    },
  }
}

async function balanceUsd({ ledger }: Services, accountId: string): Promise<number> {
  const balance = await ledger.readBalance(accountId)
  if (!balance) return fail(`the ledger does not know the account ${accountId}`)
  return nanoToUsd(nano(balance.available + balance.held))
}

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
        const orders = { list: listOrders.bind(null, { database }) }
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
    // Null if Redis is unreachable: Postgres may be behind, so its balance may be wrong.
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
