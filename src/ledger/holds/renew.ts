/** Extends open holds, many in one call per shard. */

import type { LedgerDeps } from '@/ledger/accounts/deps'
import type { Renewal, RenewOutcome } from '@/ledger/outcomes'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { checkedId, deadlinesName, holdName, shardOf } from '@/ledger/store/names'
import { amountText, integerText, listOf, MAX_TTL_MS, wordOf } from '@/ledger/store/reply'
import { factsText } from '@/ledger/usage-record'

const BATCH_SIZE = 200

/** Sorts the holds so that those of one shard are adjacent: batches of them need few script calls. */
export function shardByShard<Held extends { readonly accountId: string }>(holds: readonly Held[]): Held[] {
  return [...Map.groupBy(holds, ({ accountId }) => shardOf(accountId)).values()].flat()
}

/** Renews holds of any accounts; outcomes are in the order of `renewals`. */
export async function renew(deps: LedgerDeps, renewals: readonly Renewal[]): Promise<RenewOutcome[]> {
  const outcomes: RenewOutcome[] = []
  const byShard = Map.groupBy(renewals.keys(), (index) => shardOf(renewals[index]?.accountId ?? ''))
  const batches = [...byShard].flatMap(([shard, indexes]) => inBatches(indexes).map((batch) => ({ shard, batch })))
  await Promise.all(
    batches.map(async ({ shard, batch }) => {
      const own = batch.flatMap((index) => renewals[index] ?? [])
      const names = own.map((renewal) => holdName(renewal.accountId, renewal.holdId))
      const args = own.flatMap(renewalArguments)
      const reply = listOf(await deps.runner.run(SCRIPTS.renew, [deadlinesName(shard), ...names], args))
      for (const [at, index] of batch.entries()) outcomes[index] = wordOf(reply[at]) as RenewOutcome
    }),
  )
  return outcomes
}

function inBatches(indexes: readonly number[]): number[][] {
  const count = Math.ceil(indexes.length / BATCH_SIZE)
  return Array.from({ length: count }, (_, batch) => indexes.slice(batch * BATCH_SIZE, (batch + 1) * BATCH_SIZE))
}

function renewalArguments(renewal: Renewal): string[] {
  return [
    checkedId(renewal.accountId),
    integerText(renewal.ttlMs, 'time to live', 1, MAX_TTL_MS),
    amountText(renewal.cost, 'cost'),
    renewal.reached ? '1' : '0',
    factsText(renewal.facts, renewal.holdId),
  ]
}
