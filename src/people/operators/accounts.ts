/** The operator's API for accounts: create, find, credit, suspend and activate them, and read their usage and orders. */
import { type Static, Type } from '@sinclair/typebox'
import type { Accounts } from '@/accounts/accounts'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { Administration } from '@/console/administration/administration'
import { PAGE } from '@/console/http/pages'
import { exactly, isoMoments, listOf, mapPage } from '@/console/http/wire'
import type { Orders } from '@/console/orders/orders'
import type { HttpDeps } from '@/http/deps'
import { titled } from '@/http/openapi/titled'
import { readReportQuery } from '@/http/routes/report-query'
import { reportBody } from '@/http/routes/usage'
import type { AccountStatus } from '@/ledger/outcomes'
import { formatUsd, type Nano, nano, parseUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { type BudgetDeps, setBudget } from '@/people/budgets/budgets'
import type { KeyDeps } from '@/people/keys/keys'
import type { OperationCaller, ParamsOf } from '@/people/operation'
import { FoundOrderBody, foundOrderBody } from '@/people/orders/admin-bodies'
import { StateName } from '@/people/orders/bodies'
import { Email, PersonName } from '@/people/sign-in/schemas'

/** The services that the operator's operations use. */
export type OperatorDeps = KeyDeps &
  BudgetDeps & {
    accounts: Accounts
    administration: Pick<Administration, 'searchAccounts' | 'addOperatorCredit'>
    orders: Pick<Orders, 'search'>
    usageReport: HttpDeps['usageReport']
  }

/** A call of an operator key. Its `viewer` has the rights of an admin in the account of the path. */
export type OperatorCall<Path extends string = string> = OperationCaller & {
  deps: OperatorDeps
  operatorKeyId: string
  params: ParamsOf<Path>
}
type OnAccount = OperatorCall<':accountId'>

const Status = oneOf<AccountStatus>(['active', 'suspended'])

export const AccountBody = titled('OperatorAccount', {
  id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  status: Status,
  balanceUsd: orNull(Type.String(), {
    description: 'Decimal USD, held credit included; in lists a moment behind. null: the ledger does not answer now',
  }),
  createdAt: Type.String({ description: 'ISO 8601' }),
})

export const AccountList = listOf(AccountBody, { description: 'Newest first' })

export const NewAccountBody = exactly({
  email: Email,
  name: Type.String({ minLength: 1, maxLength: 200, pattern: PersonName.pattern ?? '' }),
})

export const AccountQuery = Type.Object({
  email: Type.Optional(Type.String({ maxLength: 254, description: 'The whole address, in any case' })),
  status: Type.Optional(Status),
  ...PAGE,
})

/** Creates an account without credit and keys. A person who signs up with its address and confirms it becomes its owner. */
export async function createAccount({ deps, by }: OperatorCall, body: Static<typeof NewAccountBody>) {
  const account = { email: body.email, name: body.name.trim() }
  const outcome = await deps.accounts.create(account, by)
  if (outcome.kind === 'created') return await shownAccount(deps, outcome.accountId)
  throw new GatewayError('conflict', 'An account with this address exists already.', { code: 'email_taken' })
}

/** One page of accounts. */
export async function listAccounts({ deps }: OperatorCall, query: Static<typeof AccountQuery>) {
  return mapPage(await deps.administration.searchAccounts(query), ({ accountId: id, balance, ...account }) => ({
    id,
    ...isoMoments(account),
    balanceUsd: formatUsd(balance),
  }))
}

/** The account's present state. */
export async function shownAccount(deps: OperatorDeps, accountId: string): Promise<Static<typeof AccountBody>> {
  const { name, email, status, createdAt } = await findAccount(deps, accountId)
  const balance = await deps.ledger.readBalance(accountId).catch(() => undefined)
  const balanceUsd = balance ? formatUsd(nano(balance.available + balance.held)) : null
  return { id: accountId, name, email, status, balanceUsd, createdAt: createdAt.toISOString() }
}

async function findAccount({ accounts }: OperatorDeps, accountId: string) {
  return (await accounts.find(accountId)) ?? noSuchAccount()
}

export const CreditBody = exactly({
  usd: Type.String({
    minLength: 1,
    maxLength: 20,
    examples: ['25'],
    description: 'Decimal USD; a negative amount takes back what is there and can no longer be charged back',
  }),
  reference: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: PersonName.pattern ?? '',
    examples: ['order 4711'],
    description: 'Such as your order number. It credits one account once, whoever sends it again',
  }),
})

/** Adds credit to an account. A repeated call with the same reference adds nothing. */
export async function addCredit(call: OnAccount, { usd, reference }: Static<typeof CreditBody>) {
  const { deps, by, params, operatorKeyId } = call
  const { accountId } = params
  const { actor, ip, requestId } = by
  const operator = {
    ...{ userId: operatorKeyId, operatorKeyId, email: actor.email },
    ...(ip !== undefined && { ip }),
    ...(requestId !== undefined && { requestId }),
  }
  const credit = { accountId, amount: readAmount(usd), reference: readReference(reference) }
  const outcome = await deps.administration.addOperatorCredit(operator, credit)
  switch (outcome.kind) {
    case 'credited':
      return await shownAccount(deps, accountId)
    case 'unknown_account':
      return noSuchAccount()
    case 'reference_taken':
      throw conflict(outcome.kind, 'This reference was used for another amount of this account.')
    case 'reference_elsewhere':
      throw conflict(outcome.kind, 'This reference was used for another account.')
    case 'awaiting_approval':
      throw conflict('approval_required', 'An administrator has to approve this credit first. Send it again later.', {
        approvalId: outcome.approvalId,
      })
    case 'not_approved':
      throw conflict(outcome.kind, 'This credit was not approved.', {
        ...{ approvalId: outcome.approvalId, status: outcome.status },
      })
    case 'refused':
      throw conflict('credit_refused', outcome.message)
  }
}

function conflict(code: string, message: string, details?: Record<string, string>): GatewayError {
  return new GatewayError('conflict', message, { code, ...(details && { details }) })
}

function readAmount(text: string): Nano {
  const amount = parseUsd(text)
  if (amount !== undefined && amount !== 0) return amount
  throw invalidRequest('usd: must be an amount of USD such as 25 or 12.50, and not zero.', 'usd')
}

/** References that begin with one of these words are reserved for the service. */
const OWN_REFERENCE = /^(?:payment|refund|reversal|transfer|adjustment):/

function readReference(text: string): string {
  if (!OWN_REFERENCE.test(text)) return text.trim()
  throw invalidRequest('reference: begins with a word that the service keeps for itself.', 'reference')
}

export const StatusBody = exactly({
  reason: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Kept in the audit log; by default `by operator key`' }),
  ),
})

/** Suspends or activates an account, on every gateway. */
export async function setStatus(call: OnAccount, status: AccountStatus, body: Static<typeof StatusBody>) {
  const { deps, by, params } = call
  const reason = body.reason ?? 'by operator key'
  const outcome = await deps.accounts.setStatus(params.accountId, status, { by, reason })
  return outcome === 'unknown_account' ? noSuchAccount() : await shownAccount(deps, params.accountId)
}

/** The usage report of an account. */
export async function readUsage({ deps, params, request }: OnAccount) {
  const { accountId } = params
  const query = readReportQuery(request.url, Date.now())
  await findAccount(deps, accountId)
  return reportBody(query, await deps.usageReport({ accountId }, query))
}

/** Sets a budget of a key. */
export async function setKeyBudget(call: OperatorCall<':accountId/:id'>, body: Parameters<typeof setBudget>[1]) {
  const { deps, viewer, by, params, request } = call
  return await setBudget({ deps, viewer, by, request, params: { scope: 'key', scopeId: params.id } }, body)
}

export const OrderQuery = Type.Object({
  accountId: Type.Optional(Type.String({ maxLength: 64 })),
  email: Type.Optional(Type.String({ maxLength: 254, description: "A part of the account's address" })),
  reference: Type.Optional(Type.String({ maxLength: 40, description: 'In any writing; the beginning is enough' })),
  state: Type.Optional(StateName),
  ...PAGE,
})

export const OrderList = listOf(FoundOrderBody, { description: 'Newest first' })

/** One page of the orders of all accounts. */
export async function listOrders({ deps }: OperatorCall, query: Static<typeof OrderQuery>) {
  return mapPage(await deps.orders.search(query), foundOrderBody)
}

function noSuchAccount(): never {
  throw new GatewayError('not_found', 'There is no such account.', { code: 'account_not_found' })
}
