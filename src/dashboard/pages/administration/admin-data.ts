/** What the pages of administration ask the server, and the types of what it answers. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { answer, api, type DataOf } from '@/dashboard/client'
import { askAgain, filled, usePages } from '@/dashboard/query'

export type FoundOrder = DataOf<typeof api.admin.orders.get>['items'][number]
export type OrderDetails = DataOf<ReturnType<typeof api.admin.orders>['get']>
export type Payment = DataOf<typeof api.admin.payments.get>['items'][number]
export type FoundAccount = DataOf<typeof api.admin.accounts.get>['items'][number]
export type AccountView = DataOf<ReturnType<typeof api.admin.accounts>['get']>
export type Approval = DataOf<typeof api.admin.approvals.get>['items'][number]
export type Preview = DataOf<typeof api.admin.statements.preview.post>
export type PreviewLine = Preview['lines'][number]
export type Committed = DataOf<ReturnType<typeof api.admin.statements>['commit']['post']>
export type MoneyAnswer = DataOf<ReturnType<typeof api.admin.orders>['confirm']['post']>
export type TierReport = DataOf<typeof api.admin.tiers.get>
export type Health = DataOf<typeof api.admin.health.get>
export type ProviderHealth = Health['providers'][number]
export type Trials = DataOf<ReturnType<typeof api.admin.providers>['test']['post']>
export type AuditEntry = DataOf<typeof api.admin.audit.get>['items'][number]

type OrderState = FoundOrder['state']
export type ApprovalStatus = Approval['status']

/** Everything that administrators see; invalidate it after they have done something. */
const ADMIN_KEY = ['admin'] as const
const HEALTH_REFETCH_MS = 5_000

/** After something was done: everything on these pages asks again. */
export async function adminChanged(): Promise<void> {
  await askAgain({ queryKey: ADMIN_KEY })
}

export type OrderFilters = { reference: string; email: string; amount: string; state: string; claimed: string }

/** Orders for which every filter that is not empty holds. */
export function useOrders(filters: OrderFilters) {
  const { claimed, ...words } = filled(filters)
  const query = {
    ...(words as typeof words & { state?: OrderState }),
    ...(claimed !== undefined && { isClaimed: claimed === 'yes' }),
  }
  return usePages([...ADMIN_KEY, 'orders', filters], (page) =>
    answer(api.admin.orders.get({ query: { ...query, ...page } })),
  )
}

/** One order with its events and payments. */
export function useOrder(orderId: string) {
  return useQuery({
    queryKey: [...ADMIN_KEY, 'order', orderId],
    queryFn: () => answer(api.admin.orders({ orderId }).get()),
  })
}

/** Payments that fitted no order and wait for a decision. */
export function useUnmatchedPayments() {
  return usePages([...ADMIN_KEY, 'payments'], (query) => answer(api.admin.payments.get({ query })))
}

/** Chargebacks and refunds that moved no credit. */
export function useOpenReversals() {
  return usePages([...ADMIN_KEY, 'reversals'], (query) => answer(api.admin.reversals.get({ query })))
}

/** Accounts that hold `text` in address or name, or have it as their id. */
export function useAccounts(text: string, status: '' | 'active' | 'suspended') {
  const query = { ...(text !== '' && { text }), ...(status !== '' && { status }) }
  return usePages([...ADMIN_KEY, 'accounts', text, status], (page) =>
    answer(api.admin.accounts.get({ query: { ...query, ...page } })),
  )
}

/** One account with its live balance. */
export function useAccount(accountId: string) {
  return useQuery({
    queryKey: [...ADMIN_KEY, 'account', accountId],
    queryFn: () => answer(api.admin.accounts({ accountId }).get()),
  })
}

/** Approvals of one status, or all. */
export function useApprovals(status: '' | ApprovalStatus) {
  return usePages([...ADMIN_KEY, 'approvals', status], (page) =>
    answer(api.admin.approvals.get({ query: { ...(status !== '' && { status }), ...page } })),
  )
}

/** Looked at again every few seconds while the page is open. */
export function useHealth() {
  return useQuery({
    queryKey: [...ADMIN_KEY, 'health'],
    queryFn: () => answer(api.admin.health.get()),
    refetchInterval: HEALTH_REFETCH_MS,
  })
}

/** How models answered for tiers. */
export function useTierReport() {
  return useQuery({ queryKey: [...ADMIN_KEY, 'tiers'], queryFn: () => answer(api.admin.tiers.get()) })
}

export type AuditFilters = { actor: string; action: string; subject: string; from: string; to: string }

/** `from` and `to` are days in UTC, both included. */
export function useAudit({ from, to, ...words }: AuditFilters) {
  const query = {
    ...filled(words),
    ...(from !== '' && { from: `${from}T00:00:00Z` }),
    ...(to !== '' && { to: dayAfter(to) }),
  }
  return usePages([...ADMIN_KEY, 'audit', query], (page) =>
    answer(api.admin.audit.get({ query: { ...query, ...page } })),
  )
}

/** Asked only on demand: every hash is computed again. */
export function useAuditChain() {
  return useQuery({
    queryKey: [...ADMIN_KEY, 'chain'],
    queryFn: () => answer(api.admin.audit.chain.get()),
    enabled: false,
  })
}

const MS_PER_DAY = 86_400_000

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + MS_PER_DAY).toISOString()
}

/** Tries a provider when asked to. */
export function useTrial(provider: string) {
  return useMutation({ mutationFn: () => answer(api.admin.providers({ provider }).test.post({})) })
}
