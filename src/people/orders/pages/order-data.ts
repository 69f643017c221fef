/** Queries and changes of the credit pages, with the cache keys of their answers. */
import { useQuery } from '@tanstack/react-query'
import { withProof } from '@/dashboard/components/step-up'
import { askAgain, usePages } from '@/dashboard/query'
import { perform, type ResultOf } from '@/people/client'

export type OrderDetail = ResultOf<'GET /orders/:orderId'>
export type Order = ResultOf<'POST /orders'>
export type AutoTopUp = ResultOf<'GET /auto-top-up'>
export type OrderState = Order['state']
export type CreditOptions = ResultOf<'GET /orders/options'>

const ORDERS_KEY = ['orders']
const AUTO_TOP_UP_KEY = ['auto-top-up']
/** The interval at which an unpaid order is reloaded. */
const WAITING_REFETCH_MS = 4_000
const PAGE_SIZE = 20

/** The limits of an order and the ways to pay. */
export function useCreditOptions() {
  return useQuery({
    queryKey: ['credit-options'],
    queryFn: () => perform('GET /orders/options', {}),
    staleTime: 60_000,
  })
}

/** The account's current balance. */
export function useBalance() {
  return useQuery({ queryKey: ['overview'], queryFn: () => perform('GET /overview', {}) })
}

/** The account's orders, newest first, page by page. */
export function useOrders() {
  return usePages([...ORDERS_KEY, 'list'], (page) => perform('GET /orders', { limit: PAGE_SIZE, ...page }))
}

/** One order; reloaded regularly while its state may still change. */
export function useOrder(orderId: string) {
  return useQuery({
    queryKey: [...ORDERS_KEY, orderId],
    queryFn: () => perform('GET /orders/:orderId', { orderId }),
    refetchInterval: ({ state }) => (state.data && mayChange(state.data) ? WAITING_REFETCH_MS : false),
  })
}

export type TransferOptions = ResultOf<'GET /transfers/options'>

/** The accounts to which credit can be moved, and the maximum amount. */
export function useTransferOptions() {
  return useQuery({ queryKey: ['transfer-options'], queryFn: () => perform('GET /transfers/options', {}) })
}

/** Moves credit to another account; `key` is the form's request key. */
export async function moveCredit(transfer: { toAccountId: string; amountUsd: string; key: string }): Promise<void> {
  await withProof(() => perform('POST /transfers', transfer))
  await Promise.all([ordersChanged(), ...['statement', 'transfer-options'].map((of) => askAgain({ queryKey: [of] }))])
}

/** The account's auto top-up; reloaded regularly while its card may be charged. */
export function useAutoTopUp() {
  return useQuery({
    queryKey: AUTO_TOP_UP_KEY,
    queryFn: () => perform('GET /auto-top-up', {}),
    refetchInterval: ({ state }) =>
      state.data && (state.data.isOn || state.data.orders.some((order) => order.state === 'pending'))
        ? WAITING_REFETCH_MS
        : false,
  })
}

/** Turns the auto top-up on, or changes its amounts. */
export async function turnOnTopUp(amounts: NonNullable<AutoTopUp['amounts']>): Promise<void> {
  await withProof(() => perform('PUT /auto-top-up', amounts))
  await topUpChanged()
}

/** Turns the auto top-up off; its card stays saved. */
export async function turnOffTopUp(): Promise<void> {
  await perform('POST /auto-top-up/off', {})
  await topUpChanged()
}

/** Returns the URL of the provider's page for saving a card. */
export async function openCardPage(): Promise<string> {
  return (await perform('POST /auto-top-up/card', {})).url
}

/** Looks for a saved card, after the customer has returned from the provider's page. */
export async function lookForCard(): Promise<void> {
  await perform('POST /auto-top-up/card/look', {})
  await topUpChanged()
}

/** Removes the saved card, which turns the auto top-up off. */
export async function removeCard(): Promise<void> {
  await perform('DELETE /auto-top-up/card', {})
  await topUpChanged()
}

async function topUpChanged(): Promise<void> {
  await Promise.all([askAgain({ queryKey: AUTO_TOP_UP_KEY }), ordersChanged()])
}

/** Reloads all orders and balances after a change of an order. */
export async function ordersChanged(): Promise<void> {
  await Promise.all([askAgain({ queryKey: ORDERS_KEY }), askAgain({ queryKey: ['overview'] })])
}

function mayChange({ state, payments }: OrderDetail): boolean {
  return state === 'pending' || payments.some((payment) => payment.state === 'unmatched')
}
