/** The routes of accounts for administrators: found, looked at, suspended and activated, their credit adjusted. */
import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { MAX_KEY_LIMIT } from '@/accounts/api-keys'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { AccountView } from '@/console/administration/account-view'
import { guard } from '@/console/http/guard'
import { KeyBody, keyBody } from '@/console/http/key-bodies'
import { PAGE } from '@/console/http/pages'
import { formatUsd, type Nano, parseUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import {
  ADMIN_PREFIX,
  type AdminDeps,
  administratorOf,
  Id,
  MoneyAnswer,
  moneyAnswer,
  NullableText,
  Reason,
  RepetitionKey,
  Usd,
} from './context'
import { OrderBody, orderBody } from './order-bodies'

const StatusName = oneOf(['active', 'suspended'])

const AccountItem = Type.Object({
  accountId: Type.String(),
  name: Type.String(),
  email: Type.String(),
  status: StatusName,
  createdAt: Type.String(),
})

const AccountList = Type.Object({
  items: Type.Array(
    Type.Composite([
      AccountItem,
      Type.Object({ balance: Type.String({ description: 'Decimal USD, a moment behind the ledger' }) }),
    ]),
  ),
  nextCursor: NullableText,
})

/** What all keys of an account may do together; null = the catalogue's. */
const Limit = orNull(Type.Integer({ minimum: 1, maximum: MAX_KEY_LIMIT }))
const LIMITS = { requestsPerMinute: Limit, tokensPerMinute: Limit, concurrency: Limit }

const AccountBody = Type.Composite([
  AccountItem,
  Type.Object({
    balance: orNull(Type.Object({ available: Usd, held: Usd, spent: Usd, spentThisMonth: Usd }), {
      description: 'Live; null where the ledger does not answer',
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
const AdjustmentBody = Type.Object(
  {
    amount: Type.String({
      minLength: 1,
      maxLength: 20,
      examples: ['25', '-12.5'],
      description: 'Decimal USD; negative takes back',
    }),
    allowNegative: Type.Boolean({ description: 'Whether the balance may go below zero by it' }),
    reason: Reason,
    key: RepetitionKey,
  },
  { additionalProperties: false },
)

/** Mounts `/dashboard/api/admin/accounts`. */
export function adminAccountRoutes(deps: AdminDeps) {
  const { administration } = deps
  return new Elysia({ name: 'admin-account-routes', prefix: `${ADMIN_PREFIX}/accounts`, tags: ['Administration'] })
    .use(guard(deps))
    .get(
      '',
      async ({ query }) => {
        const page = await administration.searchAccounts(query)
        return {
          ...page,
          items: page.items.map((item) => ({
            ...item,
            balance: formatUsd(item.balance),
            createdAt: item.createdAt.toISOString(),
          })),
        }
      },
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
      async ({ viewer, request, params, body }) => {
        const by = administratorOf(deps, viewer, request)
        const outcome = await administration.changeAccountStatus(by, { ...params, ...body })
        if (outcome === 'unknown_account') throw noSuchAccount()
        return { status: body.status }
      },
      {
        administrator: true,
        params: AccountParams,
        body: Type.Object({ status: StatusName, reason: Reason }, { additionalProperties: false }),
        response: Type.Object({ status: StatusName }),
        detail: {
          summary: 'Suspend or activate an account',
          description: 'A suspended account is refused at its next request, on every gateway. For administrators.',
        },
      },
    )
    .post(
      '/:accountId/limits',
      async ({ viewer, request, params, body }) => {
        const { reason, ...limits } = body
        const by = administratorOf(deps, viewer, request)
        const outcome = await administration.changeAccountLimits(by, { ...params, limits, reason })
        if (outcome === 'unknown_account') throw noSuchAccount()
        return limits
      },
      {
        administrator: true,
        params: AccountParams,
        body: Type.Object({ ...LIMITS, reason: Reason }, { additionalProperties: false }),
        response: Type.Object(LIMITS),
        detail: {
          summary: "Change an account's limits",
          description:
            'They hold for all its keys together from the next request on, on every gateway. For administrators.',
        },
      },
    )
    .post(
      '/:accountId/adjustments',
      async ({ viewer, request, params, body }) => {
        const { key, reason, allowNegative } = body
        const amount = readAdjustment(body.amount)
        const operation = { kind: 'credit.adjust', ...params, amountNano: amount, allowNegative } as const
        return moneyAnswer(
          await administration.request(administratorOf(deps, viewer, request), { operation, reason, key }),
        )
      },
      {
        movesMoney: true,
        params: AccountParams,
        body: AdjustmentBody,
        response: MoneyAnswer,
        detail: {
          summary: 'Adjust credit',
          description: 'Up or down. Above the limit of a day a second administrator has to agree. For administrators.',
        },
      },
    )
}

function viewBody(
  account: AccountView,
  { approvalLimit, defaultLimits }: AdminDeps['administration'],
): Static<typeof AccountBody> {
  const { balance, users, keys, entries, orders, createdAt, ...rest } = account
  const { requestsPerMinute, tokensPerMinute, concurrency, ...facts } = rest
  const nowMs = Date.now()
  return {
    ...facts,
    createdAt: createdAt.toISOString(),
    balance: balance
      ? {
          available: formatUsd(balance.available),
          held: formatUsd(balance.held),
          spent: formatUsd(balance.spent),
          spentThisMonth: formatUsd(balance.spentThisMonth),
        }
      : null,
    users: users.map((user) => ({ ...user, createdAt: user.createdAt.toISOString() })),
    keys: keys.map((key) => keyBody(key, nowMs)),
    entries: entries.map((entry) => ({
      ...entry,
      amount: formatUsd(entry.amount),
      createdAt: entry.createdAt.toISOString(),
    })),
    orders: orders.map(orderBody),
    limits: { requestsPerMinute, tokensPerMinute, concurrency },
    defaultLimits,
    approvalLimit: formatUsd(approvalLimit),
  }
}

function readAdjustment(text: string): Nano {
  const amount = parseUsd(text)
  if (amount === undefined || amount === 0) {
    throw invalidRequest('amount: must be an amount of USD such as 25 or -12.50, and not zero.', 'amount')
  }
  return amount
}

function noSuchAccount(): GatewayError {
  return new GatewayError('not_found', 'There is no such account.')
}
