/** Administration put together: what administrators may do and see, over the parts of the service. */

import { type AccountLimitsChange, changeAccountLimits } from '@/accounts/account-limits'
import type { Accounts } from '@/accounts/accounts'
import type { ApiKeys } from '@/accounts/api-keys'
import { type AuditChainState, recordAudit, verifyAuditChain } from '@/accounts/audit'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import { type Approval, type ApprovalSearch, listApprovals } from '@/console/administration/approvals/approval-list'
import { type DecideOutcome, type Decision, decideApproval } from '@/console/administration/approvals/approvals'
import { type Operation, requestIdOf } from '@/console/administration/approvals/operation'
import { orderRefusal } from '@/console/administration/approvals/order-refusal'
import { type RequestOutcome, requestOperation } from '@/console/administration/approvals/request-operation'
import { type CommitOutcome, commitStatement } from '@/console/administration/statements/commit'
import { type PreviewOutcome, previewStatement } from '@/console/administration/statements/preview'
import type { StatementOptions } from '@/console/administration/statements/read-statement'
import type { Orders, OrdersDeps } from '@/console/orders/orders'
import type { Payment } from '@/console/orders/types'
import type { Database } from '@/db/client'
import type { AccountStatus, DefaultLimits } from '@/ledger/outcomes'
import type { Nano } from '@/lib/money'
import type { Page } from '@/lib/paging'
import { type Trial, tryProvider } from '@/upstream/trial/try-provider'
import { type CountGapSearch, type GapRecord, searchCountGaps } from '@/usage/count-gaps'
import { type MarginReport, readMargins } from '@/usage/margins'
import { type Observed, readObservations } from '@/usage/observations'
import { type AccountSearch, type FoundAccount, searchAccounts } from './account-search'
import { type AccountView, viewAccount } from './account-view'
import { type Administrator, auditOrigin } from './administrator'
import { type AuditRow, type AuditSearch, ownPeople, searchAudit } from './audit-search'
import { type HealthReport, type HealthSources, reportHealth } from './provider-health'

/** Tries the provider of this name; undefined where none is offered. */
type ProviderTrials = (by: Administrator, provider: string) => Promise<Trial[] | undefined>

type AdministrationDeps = {
  ordersDeps: OrdersDeps
  orders: Orders
  accounts: Accounts
  apiKeys: ApiKeys
  /** For what is only looked up: another pool than the one that paid requests use. */
  reading: Database
  /** What one administrator may move in a day without a second one, for all accounts together. */
  approvalLimit: Nano
  /** The catalogue's limits, which hold for an account without its own. */
  defaultLimits: DefaultLimits
  health: HealthSources
}

/** `key` is of the caller's choice (8 to 60 characters): the same key happens once, however often it is sent. */
export type MoneyRequest = { operation: Operation; reason: string; key: string }

type LimitsChange = Omit<AccountLimitsChange, 'by'>

/** Every change is audited. Reasons have 1 to 500 characters. */
export interface Administration {
  readonly approvalLimit: Nano
  readonly defaultLimits: DefaultLimits
  searchAccounts(search: AccountSearch): Promise<Page<FoundAccount>>
  viewAccount(accountId: string): Promise<AccountView | undefined>
  changeAccountStatus(by: Administrator, change: StatusChange): Promise<'updated' | 'unknown_account'>
  /** What all keys of an account may do together; null = the catalogue's. */
  changeAccountLimits(by: Administrator, change: LimitsChange): Promise<'updated' | 'unknown_account'>
  /** Moves money within the limit, and asks for a second administrator above it. */
  request(by: Administrator, request: MoneyRequest): Promise<RequestOutcome>
  listApprovals(search: ApprovalSearch): Promise<Page<Approval>>
  decide(by: Administrator, request: { approvalId: string; decision: Decision; note: string }): Promise<DecideOutcome>
  /** Closes an unmatched payment without credit. */
  dismissPayment(by: Administrator, request: { paymentId: string; reason: string }): Promise<DismissOutcome>
  previewStatement(by: Administrator, text: string, options: StatementOptions): Promise<PreviewOutcome>
  commitStatement(
    by: Administrator,
    request: { importId: string; digest: string; reason: string },
  ): Promise<CommitOutcome>
  health(): HealthReport
  /** Sends small requests to each target of a provider, which it charges for; undefined where none of that name is offered. */
  tryProvider(by: Administrator, provider: string): Promise<Trial[] | undefined>
  /** How models answered for tiers in the last `days` days, and what share of each tier's requests is looked at. */
  tierReport(days: number): Promise<TierReport>
  /** What is left of the last `days` days once providers are paid. */
  margins(days: number): Promise<MarginReport>
  searchCountGaps(search: CountGapSearch): Promise<Page<GapRecord>>
  searchAudit(search: AuditSearch): Promise<Page<AuditRow>>
  /** Which of the people are the account's own, and none who run the service. */
  ownPeople(accountId: string, userIds: readonly string[]): Promise<ReadonlySet<string>>
  verifyAudit(): Promise<AuditChainState>
}

type TierReport = { tiers: { tier: string; share: number }[]; observed: Observed[] }

type DismissOutcome =
  | { kind: 'dismissed'; payment: Payment }
  | { kind: 'not_found' }
  | { kind: 'refused'; message: string }

/** Administration over `deps`. */
export function createAdministration(deps: AdministrationDeps): Administration {
  const { ordersDeps, orders, accounts, apiKeys, reading, approvalLimit, defaultLimits, health } = deps
  const { database, ledger } = ordersDeps
  const money = { ...ordersDeps, approvalLimit }
  return {
    approvalLimit,
    defaultLimits,
    searchAccounts: (search) => searchAccounts(reading, search),
    viewAccount: (accountId) => viewAccount({ database, ledger, accounts, apiKeys, orders }, accountId),
    changeAccountStatus: (by, change) => changeAccountStatus(accounts, by, change),
    changeAccountLimits: (by, change) => changeAccountLimits(database, ledger, { ...change, by: auditOrigin(by) }),
    request: (by, { operation, reason, key }) =>
      requestOperation(money, by, { operation, reason, requestId: requestIdOf(by.userId, key) }),
    listApprovals: (search) => listApprovals(ordersDeps, search),
    decide: (by, request) => decideApproval(ordersDeps, by, request),
    async dismissPayment(by, { paymentId, reason }) {
      const actor = { kind: 'person', ...by } as const
      const outcome = await orders.resolve({ paymentId, resolution: { kind: 'dismiss' }, reason, actor })
      if (outcome.kind === 'dismissed' || outcome.kind === 'not_found') return outcome
      return { kind: 'refused', message: orderRefusal(outcome, false)?.message ?? 'It was credited.' }
    },
    previewStatement: (by, text, options) => previewStatement(ordersDeps, by, text, options),
    commitStatement: (by, request) => commitStatement(money, by, request),
    health: () => reportHealth(health),
    tryProvider: createProviderTrials(health.catalog, database),
    tierReport: async (days) => ({
      tiers: [...health.catalog.current.tiers.values()].map(({ id, observe }) => ({ tier: id, share: observe })),
      observed: await readObservations(reading, days, Date.now()),
    }),
    margins: (days) => readMargins(reading, days, Date.now()),
    searchCountGaps: (search) => searchCountGaps(reading, search),
    searchAudit: (search) => searchAudit(reading, search),
    ownPeople: (accountId, userIds) => ownPeople(reading, accountId, userIds),
    verifyAudit: () => verifyAuditChain(reading),
  }
}

type StatusChange = {
  accountId: string
  status: AccountStatus
  /** 1 to 500 characters. */
  reason: string
}

/** Changes an account's status in the history together with its audit entry, then on every gateway. Throws as `setStatus` does. */
async function changeAccountStatus(
  accounts: Pick<Accounts, 'setStatus'>,
  administrator: Administrator,
  { accountId, status, reason }: StatusChange,
): Promise<'updated' | 'unknown_account'> {
  return await accounts.setStatus(accountId, status, { by: auditOrigin(administrator), reason })
}

/** Creates the trials of one process. */
function createProviderTrials(catalog: CatalogSource, database: Database): ProviderTrials {
  const running = new Map<string, Promise<Trial[] | undefined>>()
  return async (by, provider) => {
    const { current } = catalog
    if (!current.providers.has(provider)) return undefined
    const under = running.get(provider)
    if (under) return under
    await database.db.transaction((transaction) =>
      recordAudit(transaction, {
        ...auditOrigin(by),
        action: 'provider.test',
        subject: provider,
        accountId: null,
        details: {},
      }),
    )
    const trial = tryProvider(current, provider).finally(() => running.delete(provider))
    running.set(provider, trial)
    return trial
  }
}
