/** All functions of the administration, built over the parts of the service. */

import { type AccountLimitsChange, changeAccountLimits } from '@/accounts/account-limits'
import type { Accounts } from '@/accounts/accounts'
import type { ApiKeys } from '@/accounts/api-keys'
import { recordAudit, verifyAuditChain } from '@/accounts/audit'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import { listApprovals } from '@/console/administration/approvals/approval-list'
import { decideApproval } from '@/console/administration/approvals/approvals'
import { type Operation, requestIdOf } from '@/console/administration/approvals/operation'
import { addOperatorCredit } from '@/console/administration/approvals/operator-credit'
import { orderRefusal } from '@/console/administration/approvals/order-refusal'
import { requestOperation } from '@/console/administration/approvals/request-operation'
import { readBooks } from '@/console/administration/books/read-books'
import { commitStatement } from '@/console/administration/statements/commit'
import { previewStatement } from '@/console/administration/statements/preview'
import type { Orders, OrdersDeps } from '@/console/orders/orders'
import type { Payment } from '@/console/orders/types'
import type { Database } from '@/db/client'
import type { AccountStatus, DefaultLimits } from '@/ledger/outcomes'
import type { Nano } from '@/lib/money'
import { type Trial, tryProvider } from '@/upstream/trial/try-provider'
import { searchCountGaps } from '@/usage/count-gaps'
import { readMargins } from '@/usage/margins'
import { readObservations } from '@/usage/observations'
import { searchAccounts } from './account-search'
import { viewAccount } from './account-view'
import { type Administrator, auditOrigin } from './administrator'
import { ownPeople, searchAudit } from './audit-search'
import { type HealthSources, reportHealth } from './provider-health'

type AdministrationDeps = {
  ordersDeps: OrdersDeps
  orders: Orders
  accounts: Accounts
  apiKeys: ApiKeys
  /** A separate pool of connections for look-ups: paid requests must not wait for a connection. */
  reading: Database
  /** Maximum amount that one administrator moves in a day, over all accounts, without a second administrator. */
  approvalLimit: Nano
  /** The catalogue's limits, used for accounts that have no limits of their own. */
  defaultLimits: DefaultLimits
  health: HealthSources
}

/** `key` is an idempotency key of 8 to 60 characters. */
export type MoneyRequest = { operation: Operation; reason: string; key: string }

/** `reason` has 1 to 500 characters. */
type StatusChange = { accountId: string; status: AccountStatus; reason: string }
type LimitsChange = Omit<AccountLimitsChange, 'by'>

type DismissOutcome =
  | { kind: 'dismissed'; payment: Payment }
  | { kind: 'not_found' }
  | { kind: 'refused'; message: string }

/** Every change is audited. Reasons have 1 to 500 characters. */
export type Administration = ReturnType<typeof createAdministration>

export function createAdministration(deps: AdministrationDeps) {
  const { ordersDeps, orders, accounts, apiKeys, reading, approvalLimit, defaultLimits, health } = deps
  const { database, ledger } = ordersDeps
  const money = { ...ordersDeps, approvalLimit }
  return {
    approvalLimit,
    defaultLimits,
    searchAccounts: searchAccounts.bind(null, reading),
    viewAccount: viewAccount.bind(null, { database, ledger, accounts, apiKeys, orders }),
    changeAccountStatus: (by: Administrator, { accountId, status, reason }: StatusChange) =>
      accounts.setStatus(accountId, status, { by: auditOrigin(by), reason }),
    changeAccountLimits: (by: Administrator, change: LimitsChange) =>
      changeAccountLimits(database, ledger, { ...change, by: auditOrigin(by) }),
    /** Moves money if the amount is within the limit; above the limit, requests a second administrator's approval. */
    request: (by: Administrator, { operation, reason, key }: MoneyRequest) =>
      requestOperation(money, by, { operation, reason, requestId: requestIdOf(by.userId, key) }),
    /** Adds credit once per reference for an operator key; above the limit, requests an administrator's approval. */
    addOperatorCredit: addOperatorCredit.bind(null, money),
    listApprovals: listApprovals.bind(null, ordersDeps),
    decide: decideApproval.bind(null, ordersDeps),
    dismissPayment: dismissPayment.bind(null, orders),
    previewStatement: previewStatement.bind(null, ordersDeps),
    commitStatement: commitStatement.bind(null, money),
    health: () => reportHealth(health),
    tryProvider: createProviderTrials(health.catalog, database),
    /** Each tier's share of requests that are observed, and the quality by model that was observed in the last `days` days. */
    tierReport: async (days: number) => ({
      tiers: [...health.catalog.current.tiers.values()].map(({ id, observe }) => ({ tier: id, share: observe })),
      observed: await readObservations(reading, days, Date.now()),
    }),
    /** Margins of the last `days` days: sales minus provider costs. */
    margins: (days: number) => readMargins(reading, days, Date.now()),
    books: readBooks.bind(null, reading),
    searchCountGaps: searchCountGaps.bind(null, reading),
    searchAudit: searchAudit.bind(null, reading),
    ownPeople: ownPeople.bind(null, reading),
    verifyAudit: () => verifyAuditChain(reading),
  }
}

/** Closes an unmatched payment without credit. */
async function dismissPayment(
  orders: Orders,
  by: Administrator,
  { paymentId, reason }: { paymentId: string; reason: string },
): Promise<DismissOutcome> {
  const actor = { kind: 'person', ...by } as const
  const outcome = await orders.resolve({ paymentId, resolution: { kind: 'dismiss' }, reason, actor })
  if (outcome.kind === 'dismissed' || outcome.kind === 'not_found') return outcome
  return { kind: 'refused', message: orderRefusal(outcome, false)?.message ?? 'It was credited.' }
}

/** Sends small test requests, which cost money, to each target of a provider; undefined if no such provider is offered. */
function createProviderTrials(catalog: CatalogSource, database: Database) {
  const running = new Map<string, Promise<Trial[] | undefined>>()
  return async (by: Administrator, provider: string): Promise<Trial[] | undefined> => {
    const { current } = catalog
    if (!current.providers.has(provider)) return undefined
    const under = running.get(provider)
    if (under) return under
    const entry = { action: 'provider.test', subject: provider, accountId: null, details: {} }
    await database.db.transaction((transaction) => recordAudit(transaction, { ...auditOrigin(by), ...entry }))
    const trial = tryProvider(current, provider).finally(() => running.delete(provider))
    running.set(provider, trial)
    return trial
  }
}
