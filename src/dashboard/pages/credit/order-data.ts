/** What the pages of credit ask the server, and under which keys the answers are kept. */
import { useQuery } from '@tanstack/react-query'
import type { OrderBody, OrderDetailBody } from '@/console/http/order-bodies'
import { accountApi } from '@/dashboard/account'
import { answer } from '@/dashboard/client'
import { withProof } from '@/dashboard/components/step-up'
import { askAgain, usePages } from '@/dashboard/query'

export type Order = OrderBody
export type OrderDetail = OrderDetailBody
export type OrderState = OrderBody['state']
export type CreditOptions = Awaited<ReturnType<typeof askOptions>>

const ORDERS_KEY = ['orders']
/** How often an order that waits for its money is looked at again. */
const WAITING_REFETCH_MS = 4_000
const PAGE_SIZE = 20

/** Limits and methods. */
export function useCreditOptions() {
  return useQuery({ queryKey: ['credit-options'], queryFn: askOptions, staleTime: 60_000 })
}

/** The account's money now. */
export function useBalance() {
  return useQuery({ queryKey: ['overview'], queryFn: () => answer(accountApi().overview.get()) })
}

/** The account's orders, newest first, page by page. */
export function useOrders() {
  return usePages([...ORDERS_KEY, 'list'], (page) =>
    answer(accountApi().orders.get({ query: { limit: PAGE_SIZE, ...page } })),
  )
}

/** One order; looked at again and again while something may still happen to it by itself. */
export function useOrder(orderId: string) {
  return useQuery({
    queryKey: [...ORDERS_KEY, orderId],
    queryFn: () => answer(accountApi().orders({ orderId }).get()),
    refetchInterval: ({ state }) => (state.data && mayChange(state.data) ? WAITING_REFETCH_MS : false),
  })
}

export type TransferOptions = Awaited<ReturnType<typeof askTransferOptions>>

/** Where credit can be moved to, and how much at once. */
export function useTransferOptions() {
  return useQuery({ queryKey: ['transfer-options'], queryFn: askTransferOptions })
}

/** Moves credit to another account; `key` is one of the form's own. */
export async function moveCredit(transfer: { toAccountId: string; amountUsd: string; key: string }): Promise<void> {
  await withProof(() => answer(accountApi().transfers.post(transfer)))
  await Promise.all([ordersChanged(), ...['statement', 'transfer-options'].map((of) => askAgain({ queryKey: [of] }))])
}

function askTransferOptions() {
  return answer(accountApi().transfers.options.get())
}

/** After something was done to an order: everything that shows orders or the balance asks again. */
export async function ordersChanged(): Promise<void> {
  await Promise.all([askAgain({ queryKey: ORDERS_KEY }), askAgain({ queryKey: ['overview'] })])
}

function mayChange({ state, payments }: OrderDetail): boolean {
  return state === 'pending' || payments.some((payment) => payment.state === 'unmatched')
}

function askOptions() {
  return answer(accountApi().orders.options.get())
}
