/** The administrators' operations on accounts: search, show, suspend, activate. */
import { type Static, Type } from '@sinclair/typebox'
import { GatewayError } from '@/chat/error'
import type { AccountView } from '@/console/administration/account-view'
import { PAGE } from '@/console/http/pages'
import { exactly, inUsd, isoMoments, listOf, mapPage } from '@/console/http/wire'
import type { AccountBalance } from '@/ledger/outcomes'
import { formatUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { KeyBody, keyBody } from '@/people/keys/bodies'
import { MAX_KEY_LIMIT } from '@/people/keys/fields'
import { administrationOver } from '@/people/operation'
import { OrderBody, orderBody } from '@/people/orders/admin-bodies'
import { type AdminDeps, administratorOf, OF_ACCOUNT, Reason, Usd } from './context'

const StatusName = oneOf(['active', 'suspended'])

const AccountItem = Type.Object({
  accountId: Type.String(),
  name: Type.String(),
  email: Type.String(),
  status: StatusName,
  createdAt: Type.String(),
})

const AccountList = listOf(
  Type.Composite([
    AccountItem,
    Type.Object({ balance: Type.String({ description: 'Decimal USD, a moment behind the ledger' }) }),
  ]),
)

/** A limit that all keys of an account share; null: the catalogue's default. */
const Limit = orNull(Type.Integer({ minimum: 1, maximum: MAX_KEY_LIMIT }))
const LIMITS = { requestsPerMinute: Limit, tokensPerMinute: Limit, concurrency: Limit }

const AccountBody = Type.Composite([
  AccountItem,
  Type.Object({
    balance: orNull(Type.Object({ available: Usd, held: Usd, spent: Usd, spentThisMonth: Usd }), {
      description: 'Live; null if the ledger does not answer',
    }),
    users: Type.Array(
      Type.Object({
        userId: Type.String(),
        name: Type.String(),
        email: Type.String(),
        role: Type.String(),
        createdAt: Type.String(),
      }),
    ),
    keys: Type.Array(KeyBody),
    entries: Type.Array(
      Type.Object({
        entryId: Type.String(),
        kind: Type.String(),
        amount: Usd,
        reference: Type.String(),
        createdAt: Type.String(),
      }),
      { description: 'The newest 50 of the ledger' },
    ),
    orders: Type.Array(OrderBody, { description: 'The newest 20' }),
    limits: Type.Object(LIMITS, { description: "Of all its keys together; null = the catalogue's" }),
    defaultLimits: Type.Object(
      { requestsPerMinute: Type.Integer(), tokensPerMinute: Type.Integer(), concurrency: Type.Integer() },
      { description: "The catalogue's" },
    ),
    approvalLimit: Type.String({
      description: 'Decimal USD that one administrator may move in a day, for all accounts together',
    }),
  }),
])

const operation = administrationOver<AdminDeps>()

const search = operation('account.search', 'GET /accounts', 'administrator', {
  summary: 'Search accounts',
  description: 'Newest first. For administrators.',
  takes: Type.Object({
    text: Type.Optional(Type.String({ maxLength: 200, description: 'A part of the address or name, or an id' })),
    status: Type.Optional(StatusName),
    ...PAGE,
  }),
  gives: AccountList,
  run: async ({ deps }, query) =>
    mapPage(await deps.administration.searchAccounts(query), ({ balance, ...account }) => ({
      ...isoMoments(account),
      balance: formatUsd(balance),
    })),
})

const show = operation('account.details', 'GET /accounts/:accountId', 'administrator', {
  summary: 'Get an account',
  description: 'With its live balance, keys and people. For administrators.',
  names: OF_ACCOUNT,
  gives: AccountBody,
  async run({ deps: { administration }, params }) {
    const account = await administration.viewAccount(params.accountId)
    if (!account) throw noSuchAccount()
    return viewBody(account, administration)
  },
})

const changeStatus = operation('account.status', 'POST /accounts/:accountId/status', 'administrator', {
  summary: 'Suspend or activate an account',
  description: 'A suspended account is refused at its next request, on every gateway. For administrators.',
  names: OF_ACCOUNT,
  takes: exactly({ status: StatusName, reason: Reason }),
  gives: Type.Object({ status: StatusName }),
  async run({ deps, by, params }, body) {
    const outcome = await deps.administration.changeAccountStatus(administratorOf(by), { ...params, ...body })
    if (outcome === 'unknown_account') throw noSuchAccount()
    return { status: body.status }
  },
})

const changeLimits = operation('account.limits', 'POST /accounts/:accountId/limits', 'administrator', {
  summary: "Change an account's limits",
  description: 'Limits of all its keys together, from the next request on, on every gateway. For administrators.',
  names: OF_ACCOUNT,
  takes: exactly({ ...LIMITS, reason: Reason }),
  gives: Type.Object(LIMITS),
  async run({ deps, by, params }, { reason, ...limits }) {
    const change = { ...params, limits, reason }
    const outcome = await deps.administration.changeAccountLimits(administratorOf(by), change)
    if (outcome === 'unknown_account') throw noSuchAccount()
    return limits
  },
})

export const ACCOUNT_ADMINISTRATION = [search, show, changeStatus, changeLimits] as const

function viewBody(
  account: AccountView,
  { approvalLimit, defaultLimits }: AdminDeps['administration'],
): Static<typeof AccountBody> {
  const { balance, users, keys, entries, orders, ...rest } = account
  const { requestsPerMinute, tokensPerMinute, concurrency, ...facts } = isoMoments(rest)
  const nowMs = Date.now()
  return {
    ...facts,
    balance: balance ? balanceBody(balance) : null,
    users: users.map(isoMoments),
    keys: keys.map((key) => keyBody(key, nowMs)),
    entries: entries.map(({ amount, ...entry }) => ({ ...isoMoments(entry), amount: formatUsd(amount) })),
    orders: orders.map(orderBody),
    limits: { requestsPerMinute, tokensPerMinute, concurrency },
    defaultLimits,
    approvalLimit: formatUsd(approvalLimit),
  }
}

function balanceBody({ available, held, spent, spentThisMonth }: AccountBalance) {
  return inUsd({ available, held, spent, spentThisMonth })
}

function noSuchAccount(): GatewayError {
  return new GatewayError('not_found', 'There is no such account.')
}
