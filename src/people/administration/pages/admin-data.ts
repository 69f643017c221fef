/** Queries of the administration pages, and the types of their results. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { askAgain, filled, usePages } from '@/dashboard/query'
import { type AdminResultOf, administer } from '@/people/client'

export type FoundOrder = AdminResultOf<'GET /orders'>['items'][number]
export type OrderDetails = AdminResultOf<'GET /orders/:orderId'>
export type Payment = AdminResultOf<'GET /payments'>['items'][number]
export type FoundAccount = AdminResultOf<'GET /accounts'>['items'][number]
export type AccountView = AdminResultOf<'GET /accounts/:accountId'>
export type Approval = AdminResultOf<'GET /approvals'>['items'][number]
export type Preview = AdminResultOf<'POST /statements/preview'>
export type PreviewLine = Preview['lines'][number]
export type Committed = AdminResultOf<'POST /statements/:importId/commit'>
export type MoneyAnswer = AdminResultOf<'POST /orders/:orderId/confirm'>
export type TierReport = AdminResultOf<'GET /tiers'>
export type Health = AdminResultOf<'GET /health'>
export type ProviderHealth = Health['providers'][number]
export type Trials = AdminResultOf<'POST /providers/:provider/test'>
export type AuditEntry = AdminResultOf<'GET /audit'>['items'][number]

type OrderState = FoundOrder['state']
export type ApprovalStatus = Approval['status']

/** Query key of all administrators' data; invalidate it after a change. */
const ADMIN_KEY = ['admin'] as const
const HEALTH_REFETCH_MS = 5_000

/** Reloads all administrators' data after a change. */
export async function adminChanged(): Promise<void> {
  await askAgain({ queryKey: ADMIN_KEY })
}

export type OrderFilters = { reference: string; email: string; amount: string; state: string; claimed: string }

/** Orders that match all filters that are not empty. */
export function useOrders(filters: OrderFilters) {
  const { claimed, ...words } = filled(filters)
  const query = {
    ...(words as typeof words & { state?: OrderState }),
    ...(claimed !== undefined && { isClaimed: claimed === 'yes' }),
  }
  return usePages([...ADMIN_KEY, 'orders', filters], (page) => administer('GET /orders', { ...query, ...page }))
}

/** One order with its events and payments. */
export function useOrder(orderId: string) {
  return useQuery({
    queryKey: [...ADMIN_KEY, 'order', orderId],
    queryFn: () => administer('GET /orders/:orderId', { orderId }),
  })
}

/** Payments that matched no order and wait for a decision. */
export function useUnmatchedPayments() {
  return usePages([...ADMIN_KEY, 'payments'], (query) => administer('GET /payments', query))
}

/** Chargebacks and refunds that changed no credit and wait for a decision. */
export function useOpenReversals() {
  return usePages([...ADMIN_KEY, 'reversals'], (query) => administer('GET /reversals', query))
}

/** Accounts whose address or name contains `text`, or whose id is `text`. */
export function useAccounts(text: string, status: '' | 'active' | 'suspended') {
  const query = { ...(text !== '' && { text }), ...(status !== '' && { status }) }
  return usePages([...ADMIN_KEY, 'accounts', text, status], (page) =>
    administer('GET /accounts', { ...query, ...page }),
  )
}

/** One account with its live balance. */
export function useAccount(accountId: string) {
  return useQuery({
    queryKey: [...ADMIN_KEY, 'account', accountId],
    queryFn: () => administer('GET /accounts/:accountId', { accountId }),
  })
}

/** Approvals with one status, or all. */
export function useApprovals(status: '' | ApprovalStatus) {
  return usePages([...ADMIN_KEY, 'approvals', status], (page) =>
    administer('GET /approvals', { ...(status !== '' && { status }), ...page }),
  )
}

/** The health of providers, reloaded every few seconds while the page is open. */
export function useHealth() {
  return useQuery({
    queryKey: [...ADMIN_KEY, 'health'],
    queryFn: () => administer('GET /health', {}),
    refetchInterval: HEALTH_REFETCH_MS,
  })
}

/** Quality figures of models by tier. */
export function useTierReport() {
  return useQuery({ queryKey: [...ADMIN_KEY, 'tiers'], queryFn: () => administer('GET /tiers', {}) })
}

export type AuditFilters = { actor: string; action: string; subject: string; from: string; to: string }

/** `from` and `to` are days in UTC, inclusive. */
export function useAudit({ from, to, ...words }: AuditFilters) {
  const query = {
    ...filled(words),
    ...(from !== '' && { from: `${from}T00:00:00Z` }),
    ...(to !== '' && { to: dayAfter(to) }),
  }
  return usePages([...ADMIN_KEY, 'audit', query], (page) => administer('GET /audit', { ...query, ...page }))
}

/** Checks the audit log's chain of hashes. Only runs on demand, as it computes every hash again. */
export function useAuditChain() {
  return useQuery({
    queryKey: [...ADMIN_KEY, 'chain'],
    queryFn: () => administer('GET /audit/chain', {}),
    enabled: false,
  })
}

const MS_PER_DAY = 86_400_000

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + MS_PER_DAY).toISOString()
}

/** Tests a provider on demand. */
export function useTrial(provider: string) {
  return useMutation({ mutationFn: () => administer('POST /providers/:provider/test', { provider }) })
}
