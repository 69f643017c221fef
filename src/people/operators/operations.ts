/** The operations of the operator's API: on all accounts, and on the keys of each. */
import type { Static, TObject, TProperties, TSchema } from '@sinclair/typebox'
import type { OperatorScope } from '@/accounts/management/operator-keys'
import type { Parameter } from '@/http/openapi/operation'
import { REPORT_PARAMETERS } from '@/http/routes/report-query'
import { ReportBody } from '@/http/routes/usage'
import { BudgetBody, LimitsBody } from '@/people/budgets/bodies'
import { KEY_OPERATIONS } from '@/people/keys/operations'
import { type AnyOperation, type Declaration, type OperationPath, placeOf } from '@/people/operation'
import * as accounts from './accounts'

type Operation<
  Path extends OperationPath = OperationPath,
  Takes extends TObject = TObject,
  Gives extends TSchema = TSchema,
> = Declaration<Path, Takes, Gives> & {
  scope: OperatorScope
  /** Parameters that the operation itself reads from the URL. */
  parameters?: readonly Parameter[]
  run(call: accounts.OperatorCall<Path>, input: Static<Takes>): Promise<Static<Gives>>
}

/** An operation of operators, with any input and result. Its path is below `/v1/operator`. */
export type OperatorOperation = Omit<Operation, 'run'> & {
  run(call: accounts.OperatorCall, input: object): Promise<unknown>
}

function operation<
  const Path extends OperationPath,
  Gives extends TSchema,
  Takes extends TObject = TObject<TProperties & Record<never, never>>,
>(
  name: string,
  path: Path,
  scope: OperatorScope,
  rest: Omit<Operation<Path, Takes, Gives>, 'name' | 'path' | 'scope'>,
): Operation<Path, Takes, Gives> {
  return { name, path, scope, ...rest }
}

const ACCOUNT = '/accounts/:accountId'

const create = operation('account.create', 'POST /accounts', 'accounts', {
  summary: 'Create an account',
  description:
    'Without credit and keys. The person who signs up with the address and confirms it becomes its owner. 409 `email_taken` if there is one.',
  takes: accounts.NewAccountBody,
  gives: accounts.AccountBody,
  run: accounts.createAccount,
})

const list = operation('account.list', 'GET /accounts', 'read', {
  summary: 'List accounts',
  description: 'All of them, or the one with an address.',
  takes: accounts.AccountQuery,
  gives: accounts.AccountList,
  run: accounts.listAccounts,
})

const show = operation('account.show', `GET ${ACCOUNT}`, 'read', {
  summary: 'Get an account',
  description: 'With its live balance.',
  gives: accounts.AccountBody,
  run: ({ deps, params }) => accounts.shownAccount(deps, params.accountId),
})

const credit = operation('credit.add', `POST ${ACCOUNT}/credit`, 'credit', {
  summary: 'Add credit',
  description:
    'Once per reference: sent again, it changes nothing and gives the account. If the key has moved more than the limit of a day, or an ' +
    'administrator is a member of the account, it is a 409 `approval_required`: an administrator decides, then send it again.',
  takes: accounts.CreditBody,
  gives: accounts.AccountBody,
  run: accounts.addCredit,
})

const suspend = operation('account.suspend', `POST ${ACCOUNT}/suspend`, 'accounts', {
  summary: 'Suspend an account',
  description: 'Its next request is refused (403), on every gateway. Credit and keys stay.',
  takes: accounts.StatusBody,
  gives: accounts.AccountBody,
  run: (call, body) => accounts.setStatus(call, 'suspended', body),
})

const activate = operation('account.activate', `POST ${ACCOUNT}/activate`, 'accounts', {
  summary: 'Activate an account',
  description: 'Takes requests of a suspended account again.',
  takes: accounts.StatusBody,
  gives: accounts.AccountBody,
  run: (call, body) => accounts.setStatus(call, 'active', body),
})

const usage = operation('account.usage', `GET ${ACCOUNT}/usage`, 'read', {
  summary: 'Get the usage totals of an account',
  description: 'By day and two dimensions more, about a second behind.',
  parameters: REPORT_PARAMETERS,
  gives: ReportBody,
  run: accounts.readUsage,
})

const budgets = operation('budget.set', `PUT ${ACCOUNT}/keys/:id/budgets`, 'keys', {
  summary: 'Set the budgets of an API key',
  description:
    'Of a day, a week and for ever; that of a month is a limit of the key. Holds for the next request, on every gateway.',
  takes: LimitsBody,
  gives: BudgetBody,
  run: accounts.setKeyBudget,
})

const orders = operation('order.list', 'GET /orders', 'read', {
  summary: 'List orders of credit',
  description: 'Of all accounts.',
  takes: accounts.OrderQuery,
  gives: accounts.OrderList,
  run: accounts.listOrders,
})

/** The operations on keys that operator keys may also perform, on any account. */
function keyOperations(): OperatorOperation[] {
  const all: readonly AnyOperation<accounts.OperatorDeps>[] = KEY_OPERATIONS
  return all.flatMap(({ operator: scope, may: _, commands: __, ...declared }) => {
    const { method, place } = placeOf(declared)
    return scope === undefined ? [] : [{ ...declared, scope, path: `${method} ${ACCOUNT}${place}` as const }]
  })
}

/** All operations of the operator's API, in the order of the API document. */
export const OPERATOR_OPERATIONS: readonly OperatorOperation[] = [
  ...[create, list, show, credit, suspend, activate],
  ...keyOperations(),
  ...[budgets, usage, orders],
]
