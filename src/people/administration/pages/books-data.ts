/** The query of the books page, and its words for movements and ways of payment. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type AdminResultOf, administer } from '@/people/client'

export type Books = AdminResultOf<'GET /books'>
export type BookSums = Books['total']
export type CashSums = BookSums['cash'][number]
export type BookStep = Books['by']

/** Days in UTC, yyyy-mm-dd. Without `to`, the period ends today. */
type AskedBooks = { by: BookStep; from: string; to?: string }

/** The books of a period. Usage that hasn't reached Postgres is missing. */
export function useBooks(asked: AskedBooks) {
  return useQuery({
    queryKey: ['admin', 'books', asked],
    queryFn: () => administer('GET /books', asked),
    placeholderData: keepPreviousData,
  })
}

/** The URL of the period's file. */
export function booksFilePath(asked: AskedBooks): string {
  return `/dashboard/api/admin/books/csv?${new URLSearchParams(asked)}`
}

/** The terms of the liability's equation, in order. A term with `isRare` is shown only if its amount is not zero. */
export const TERMS = [
  { name: 'purchases', label: 'Credit bought', hint: 'Paid for, less tax' },
  { name: 'grants', label: 'Credit granted', hint: 'Added by operators without a payment here: no cash' },
  { name: 'testCredit', label: 'Test credit', hint: 'Of the simulated payment provider: no cash', isRare: true },
  { name: 'reinstatements', label: 'Reinstated', hint: 'Refunds and disputes that were undone', isRare: true },
  { name: 'transfers', label: 'Moved between accounts', hint: 'Zero: in one, out of another', isRare: true },
  { name: 'corrections', label: 'Corrections', hint: 'Taken back by operators', isRare: true },
  { name: 'refunds', label: 'Refunds' },
  { name: 'chargebacks', label: 'Disputes', hint: "Taken back by payers' banks", isRare: true },
  { name: 'revenue', label: 'Revenue', hint: 'What requests were charged' },
] as const satisfies readonly { name: keyof BookSums; label: string; hint?: string; isRare?: boolean }[]

const WAYS: Readonly<Record<string, string>> = { bank: 'Bank transfer', manual: 'Confirmed by an operator' }

/** The label of a way of payment. */
export function wayLabel(way: string): string {
  return WAYS[way] ?? way.replace(/^deposit:/, 'Deposit: ')
}
