/** Resolves the holds whose gateway never came back. */

import type { LedgerDeps } from '@/ledger/deps'
import type { ExpiredHold } from '@/ledger/outcomes'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { ALL_SHARDS } from '@/ledger/store/all-shards'
import {
  accountName,
  deadlinesName,
  type HoldMember,
  holdName,
  keyName,
  parseHoldMember,
  payerText,
  recentName,
  recordsName,
  SHARD_COUNT,
} from '@/ledger/store/names'
import { integerOf, listOf, wordOf } from '@/ledger/store/reply'
import { nano } from '@/lib/money'

const NEEDS_ACCOUNT = -2

/**
 * Looks over all shards at once and expires what is due, at most `limitPerShard` of each. A shard that can't be reached
 * keeps no other from its turn; throws where none could.
 */
export async function expireDue(deps: LedgerDeps, limitPerShard: number): Promise<ExpiredHold[]> {
  const shards = ALL_SHARDS.map((shard) => expireShard(deps, shard, limitPerShard))
  const results = await Promise.allSettled(shards)
  const failures = results.filter((result) => result.status === 'rejected')
  if (failures.length === SHARD_COUNT) throw failures[0]?.reason
  if (failures.length > 0) deps.logger.warn('expire_failed', { shards: failures.length, error: failures[0]?.reason })
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
}

async function expireShard(deps: LedgerDeps, shard: number, limit: number): Promise<ExpiredHold[]> {
  const due = listOf(await deps.runner.run(SCRIPTS.due, [deadlinesName(shard)], [limit]))
  const holds = due.flatMap((member) => parseHoldMember(wordOf(member)) ?? [])
  if (holds.length === 0) return []
  const costs = await expireHolds(deps, shard, holds)
  const waiting = new Set(holds.filter((_, index) => costs[index] === NEEDS_ACCOUNT).map((hold) => hold.accountId))
  for (const accountId of waiting) await deps.restorer.account(accountId, 'load')
  return holds.flatMap(({ holdId, accountId, keyId }, index) => {
    const cost = costs[index] ?? NEEDS_ACCOUNT
    return cost >= 0 ? [{ holdId, accountId, keyId, cost: nano(cost) }] : []
  })
}

/** Expires these holds of one shard as far as they are due. Returns for each its cost, or a negative number. */
export async function expireHolds(deps: LedgerDeps, shard: number, holds: readonly HoldMember[]): Promise<number[]> {
  const names = holds.flatMap((hold) => [
    holdName(hold.accountId, hold.holdId),
    accountName(hold.accountId),
    keyName(hold),
    recentName(hold.accountId),
  ])
  const args = holds.flatMap((hold) => [payerText(hold), hold.holdId, hold.amount])
  const reply = await deps.runner.run(SCRIPTS.expire, [deadlinesName(shard), recordsName(shard), ...names], args)
  return listOf(reply).map(integerOf)
}
