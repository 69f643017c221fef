import type { Database } from '@/db/client'
import { type Page, type PageRequest, page } from '@/db/paging'
import type { AccountStatus } from '@/ledger/outcomes'
import type { Nano } from '@/lib/money'
import { BY_VALUE_AND_ID, containing } from './keyset'

type AccountSearch = PageRequest & {
  /** A part of the e-mail address or name in any case, or an account id. Undefined: every account. */
  text?: string
  /** The whole e-mail address, in any case. */
  email?: string
  status?: AccountStatus
}

/** `balance` and the month's spending come from Postgres, slightly behind the ledger. */
export type FoundAccount = {
  accountId: string
  name: string
  email: string
  status: AccountStatus
  balance: Nano
  createdAt: Date
}

type Row = Omit<FoundAccount, 'createdAt'> & { created_text: string; created_ms: number }

/** Finds accounts for administrators by e-mail address, name or id, newest first. `%` and `_` are ordinary characters. */
export async function searchAccounts({ sql }: Database, search: AccountSearch): Promise<Page<FoundAccount>> {
  const text = search.text?.trim() ?? ''
  const pattern = containing(text.toLowerCase())
  return await page(search, {
    checks: BY_VALUE_AND_ID,
    read: (after, limit) => sql<Row[]>`
    SELECT id AS "accountId", name, email, status, balance_nano::bigint AS balance, created_at::text AS created_text,
      floor(extract(epoch FROM created_at) * 1000)::bigint AS created_ms
    FROM accounts
    WHERE true
      ${text === '' ? sql`` : sql`AND (id = ${text} OR lower(email) LIKE ${pattern} OR lower(name) LIKE ${pattern})`}
      ${search.email === undefined ? sql`` : sql`AND lower(email) = ${search.email.toLowerCase()}`}
      ${search.status === undefined ? sql`` : sql`AND status = ${search.status}`}
      ${after === undefined ? sql`` : sql`AND (created_at, id) < (${after[0]}::text::timestamptz, ${after[1]})`}
    ORDER BY accounts.created_at DESC, id DESC LIMIT ${limit}`,
    placeOf: (row) => [row.created_text, row.accountId],
    toItem: ({ created_text: _, created_ms: createdMs, ...account }) => ({
      ...account,
      createdAt: new Date(createdMs),
    }),
  })
}
