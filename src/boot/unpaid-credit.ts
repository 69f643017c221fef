/** Finds credit in the books that came from trying things out: worth nothing while answers are simulated, money after that. */

import type { Database } from '@/db/client'
import { type Nano, nano } from '@/lib/money'
import { DEMO_EMAIL } from './demo-account'

/** What is left of the demo account's credit and in accounts that the sandbox of deposits has credited. */
export async function readUnpaidCredit({ sql }: Database): Promise<Nano> {
  const [row] = await sql<{ sum: string }[]>`
    SELECT coalesce(sum(balance_nano::bigint), 0)::text AS sum FROM accounts
    WHERE balance_nano > 0 AND (lower(email) = ${DEMO_EMAIL} OR id IN (
      SELECT account_id FROM payments WHERE provider = 'deposit:sandbox' AND state = 'credited'))`
  return nano(Number(row?.sum ?? 0))
}
