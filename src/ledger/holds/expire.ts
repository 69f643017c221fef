/** Ends the holds of gateways that died. */

import type { LedgerDeps } from '@/ledger/accounts/deps'
import type { ExpiredHold } from '@/ledger/outcomes'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { shardGroups } from '@/ledger/store/all-shards'
import {
  accountName,
  budgetsName,
  deadlinesName,
  type HoldMember,
  holderText,
  holdName,
  keyName,
  metaName,
  NO_KEY,
  parseHoldMember,
  recordsName,
  SHARD_COUNT,
} from '@/ledger/store/names'
import { integerOf, listOf, type ReplyItem, wordOf } from '@/ledger/store/reply'
import { nano } from '@/lib/money'
import { resolveWithheld } from './withhold'

const NEEDS_ACCOUNT = -2

/** Expires due holds in all shards, up to `limitPerShard` each. Throws only if no shard is reachable. */
export async function expireDue(deps: LedgerDeps, limitPerShard: number): Promise<ExpiredHold[]> {
  const due = await Promise.all(shardGroups(deps.redis).map((shards) => dueHolds(deps, shards, limitPerShard)))
  const work = due.flat().filter(({ holds }) => holds instanceof Error || holds.length > 0)
  const results = await Promise.allSettled(work.map(({ shard, holds }) => expireShard(deps, shard, holds)))
  const failures = results.filter((result) => result.status === 'rejected')
  if (failures.length === SHARD_COUNT) throw failures[0]?.reason
  if (failures.length > 0) deps.logger.warn('expire_failed', { shards: failures.length, error: failures[0]?.reason })
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
}

type DueShard = { shard: number; holds: HoldMember[] | Error }

/** The due holds of these shards, in one call. If it fails, each shard is called alone, since one of them may be the cause. */
async function dueHolds(deps: LedgerDeps, shards: readonly number[], limit: number): Promise<DueShard[]> {
  try {
    const names = shards.map((shard) => deadlinesName(shard))
    const reply = listOf(await deps.runner.run(SCRIPTS.due, names, [limit]))
    return shards.map((shard, index) => ({ shard, holds: holdsOf(listOf(reply[index])) }))
  } catch (cause) {
    if (shards.length > 1) return (await Promise.all(shards.map((shard) => dueHolds(deps, [shard], limit)))).flat()
    return shards.map((shard) => ({ shard, holds: cause instanceof Error ? cause : new Error('unknown', { cause }) }))
  }
}

function holdsOf(members: readonly ReplyItem[]): HoldMember[] {
  return members.flatMap((member) => parseHoldMember(wordOf(member)) ?? [])
}

async function expireShard(deps: LedgerDeps, shard: number, due: HoldMember[] | Error): Promise<ExpiredHold[]> {
  if (due instanceof Error) throw due
  for (const hold of due) if (hold.keyId === NO_KEY) await decideWithheld(deps, hold)
  const holds = due.filter((hold) => hold.keyId !== NO_KEY)
  const costs = await expireHolds(deps, shard, holds)
  if (costs.some((cost) => cost >= 0)) deps.noteRecord(shard)
  const waiting = new Set(holds.filter((_, index) => costs[index] === NEEDS_ACCOUNT).map((hold) => hold.accountId))
  for (const accountId of waiting) await deps.restorer.account(accountId, 'load')
  return holds.flatMap(({ holdId, accountId, keyId }, index) => {
    const cost = costs[index] ?? NEEDS_ACCOUNT
    return cost >= 0 ? [{ holdId, accountId, keyId, cost: nano(cost) }] : []
  })
}

/** Ends withheld credit that is due, because its gateway died or still waits: it is taken if Postgres has its entry, else returned. */
async function decideWithheld(deps: LedgerDeps, { accountId, holdId, amount }: HoldMember): Promise<void> {
  const fate = await resolveWithheld(deps, { accountId, entryId: holdId, amount: nano(amount) })
  deps.logger.warn('withheld_credit_expired', { accountId, entryId: holdId, fate })
}

/** Expires the given holds of one shard if due. Returns each hold's charge; a negative number if it didn't expire. */
export async function expireHolds(deps: LedgerDeps, shard: number, holds: readonly HoldMember[]): Promise<number[]> {
  const names = holds.flatMap((hold) => [
    holdName(hold.accountId, hold.holdId),
    accountName(hold.accountId),
    keyName(hold),
    budgetsName(hold.accountId),
  ])
  const args = holds.flatMap((hold) => [holderText(hold), hold.holdId, hold.amount])
  const shared = [deadlinesName(shard), recordsName(shard), metaName(shard)]
  const reply = await deps.runner.run(SCRIPTS.expire, [...shared, ...names], args)
  return listOf(reply).map(integerOf)
}
