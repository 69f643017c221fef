/** Administrators' routes for accounts: search, show, suspend, activate. */
import { type Static, Type } from '@sinclair/typebox'
import { GatewayError } from '@/chat/error'
import type { AccountView } from '@/console/administration/account-view'
import { guarded } from '@/console/http/guard'
import { PAGE } from '@/console/http/pages'
import { exactly, inUsd, isoMoments, listOf, mapPage } from '@/console/http/wire'
import type { AccountBalance } from '@/ledger/outcomes'
import { formatUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { KeyBody, keyBody } from '@/people/keys/bodies'
import { MAX_KEY_LIMIT } from '@/people/keys/fields'
import { OrderBody, orderBody } from '@/people/orders/admin-bodies'
import { ADMIN_PREFIX, type AdminDeps, administratorOf, Id, Reason, Usd } from './context'

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

/** Limits of all keys of an account together; null: the catalogue's. */
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

const AccountParams = Type.Object({ accountId: Id })

export function adminAccountRoutes(deps: AdminDeps) {
  const { administration } = deps
  return guarded(deps, 'admin-account-routes', `${ADMIN_PREFIX}/accounts`, 'Administration')
    .get(
      '',
      async ({ query }) =>
        mapPage(await administration.searchAccounts(query), ({ balance, ...account }) => ({
          ...isoMoments(account),
          balance: formatUsd(balance),
        })),
      {
        administrator: true,
        query: Type.Object({
          text: Type.Optional(Type.String({ maxLength: 200, description: 'A part of the address or name, or an id' })),
          status: Type.Optional(StatusName),
          ...PAGE,
        }),
        response: AccountList,
        detail: { summary: 'Search accounts', description: 'Newest first. For administrators.' },
      },
    )
    .get(
      '/:accountId',
      async ({ params }) => {
        const account = await administration.viewAccount(params.accountId)
        if (!account) throw noSuchAccount()
        return viewBody(account, administration)
      },
      {
        administrator: true,
        params: AccountParams,
        response: AccountBody,
        detail: {
          summary: 'Get an account',
          description: 'With its live balance, keys and people. For administrators.',
        },
      },
    )
    .post(
      '/:accountId/status',
      async ({ by, params, body }) => {
        const outcome = await administration.changeAccountStatus(administratorOf(by), { ...params, ...body })
        if (outcome === 'unknown_account') throw noSuchAccount()
        return { status: body.status }
      },
      {
        administrator: true,
        params: AccountParams,
        body: exactly({ status: StatusName, reason: Reason }),
        response: Type.Object({ status: StatusName }),
        detail: {
          summary: 'Suspend or activate an account',
          description: 'A suspended account is refused at its next request, on every gateway. For administrators.',
        },
      },
    )
    .post(
      '/:accountId/limits',
      async ({ by, params, body }) => {
        const { reason, ...limits } = body
        const outcome = await administration.changeAccountLimits(administratorOf(by), { ...params, limits, reason })
        if (outcome === 'unknown_account') throw noSuchAccount()
        return limits
      },
      {
        administrator: true,
        params: AccountParams,
        body: exactly({ ...LIMITS, reason: Reason }),
        response: Type.Object(LIMITS),
        detail: {
          summary: "Change an account's limits",
          description:
            'Limits of all its keys together, from the next request on, on every gateway. For administrators.',
        },
      },
    )
}

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
