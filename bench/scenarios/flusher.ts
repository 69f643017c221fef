/** How fast usage records get from the ledger into the history when they have piled up, neighbours never of one account. */
import { flusherRate, type Owner } from '@bench/books/measure-flusher'
import { addRound, OURS, type Results } from '@bench/report/results'
import { FLUSHER } from '@bench/report/scenario-names'
import type { World } from '@bench/world/world'

const RECORDS = 30_000

/** One worker alone: all gateways of `world` must have stopped. */
export async function measureFlushing({ stores }: World, results: Results): Promise<void> {
  const owners = await stores.bank.database.sql<Owner[]>`
    SELECT account_id AS "accountId", id AS "keyId" FROM api_keys ORDER BY id`
  const ownerOf = (index: number) => owners[index % owners.length] as Owner
  const recordsPerSecond = await flusherRate(stores, ownerOf, RECORDS)
  addRound(results.rows, FLUSHER, OURS, { recordsPerSecond })
}
