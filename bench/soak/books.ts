/** Whether the books are whole after a soak: by the operator's own command, and by sums of our own. */
import { join } from 'node:path'
import type { BenchStores } from '@bench/machine/stores'
import type { Bank } from '@faults/world/bank'
import { processEnvironment } from '@/config/config'

export type BooksReport = {
  isWhole: boolean
  accounts: number
  openHolds: number
  /** Nano-USD, over all accounts. */
  paidIn: number
  charged: number
  left: number
  records: number
  /** Everything that does not add up, in words. */
  faults: string[]
}

type CheckOutput = { ok: boolean; violations: unknown[]; accounts: number; openHolds: number; unsyncedEvents: number }

const COMMAND = [process.execPath, join(import.meta.dir, '..', '..', 'src', 'cli', 'main.ts'), 'ledger', 'check']

/** Checks both stores; nothing may be under way any more. */
export async function checkBooks(stores: BenchStores): Promise<BooksReport> {
  const check = await ledgerCheck(stores)
  const { bank } = stores
  const faults = check.violations.map((violation) => JSON.stringify(violation))
  if (check.openHolds > 0) faults.push(`${check.openHolds} holds are open`)
  if (check.unsyncedEvents > 0) faults.push(`${check.unsyncedEvents} records have not reached the history`)
  const [sums] = await bank.database.sql<{ records: number; charged: number }[]>`
    SELECT count(*)::float8 AS records, coalesce(sum(cost_nano), 0)::float8 AS charged FROM usage_records`
  const { paidIn, left } = await checkAccounts(bank, faults)
  const charged = sums?.charged ?? 0
  if (paidIn - charged !== left) faults.push(`${paidIn} paid in, ${charged} charged, ${left} left`)
  return {
    ...{ isWhole: check.ok && faults.length === 0, accounts: check.accounts, openHolds: check.openHolds },
    ...{ paidIn, charged, left, records: sums?.records ?? 0, faults },
  }
}

/** `ledger check` as an operator runs it. */
async function ledgerCheck({ redisUrl, databaseUrl }: BenchStores): Promise<CheckOutput> {
  const { PATH = '' } = processEnvironment()
  const child = Bun.spawn(COMMAND, {
    env: { PATH, REDIS_URL: redisUrl, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, words] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if (output.trim() === '') throw new Error(`the ledger check said nothing: ${words}`)
  return JSON.parse(output) as CheckOutput
}

/** Each account's balance is the same in both stores, and none of it is held. */
async function checkAccounts(bank: Bank, faults: string[]): Promise<{ paidIn: number; left: number }> {
  let paidIn = 0
  let left = 0
  for (const { accountId, balance } of await bank.history.accounts([...bank.paidIn.keys()])) {
    const stored = await bank.ledger.readBalance(accountId)
    paidIn += bank.paidIn.get(accountId) ?? 0
    left += balance
    if (stored?.held !== undefined && stored.held !== 0) faults.push(`${accountId}: ${stored.held} is held`)
    // Who never paid for anything was never loaded.
    if (stored && stored.available + stored.held !== balance)
      faults.push(`${accountId}: ${stored.available} in the store, ${balance} in the history`)
  }
  return { paidIn, left }
}
