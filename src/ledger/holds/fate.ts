/** Finds out from a hold how its request ended, if its gateway may be dead. Needed before the request is sent again. */
import type { LedgerDeps } from '@/ledger/accounts/deps'
import type { HoldFate, Payer } from '@/ledger/outcomes'
import { streamedRecords } from '@/ledger/records/unsynced-records'
import { holdName, lateRecordId, shardOf } from '@/ledger/store/names'
import { seal } from './reserve'
import { viewHold } from './view-hold'

type Hold = Payer & { holdId: string }

/** Lifetime of a tombstone, as in `src/ledger/scripts/preludes/holds.lua`. The remaining time shows when it was settled. */
const TOMBSTONE_MS = 600_000

/** The result stored in Redis. `unknown` if missing or not final: an expired free hold can be charged late. */
export async function fateOf({ runner }: LedgerDeps, { accountId, holdId }: Hold): Promise<HoldFate> {
  const { state, cost, leftMs } = await viewHold(runner, holdName(accountId, holdId))
  switch (state) {
    case 'open':
      return { kind: 'open' }
    case 'settled':
      if (cost === 0) return { kind: 'free' }
      return { kind: 'charged', sinceMs: Math.max(0, TOMBSTONE_MS - leftMs) }
    case 'expired':
      return cost > 0 ? { kind: 'charged', sinceMs: Number.POSITIVE_INFINITY } : { kind: 'unknown' }
    case 'released':
      return { kind: 'free' }
    default:
      return { kind: 'unknown' }
  }
}

/**
 * The final result of a hold that no gateway uses now. Blocks a hold that is unknown or expired without a charge. Then looks for its record
 * in the stream and afterwards in Postgres, since a record leaves the stream only for Postgres. If a stuck gateway reserves or charges the
 * hold later, it finds the hold resolved.
 */
export async function sealFate(deps: LedgerDeps, hold: Hold): Promise<HoldFate> {
  const fate = await fateOf(deps, hold)
  if (fate.kind !== 'unknown') return fate
  const outcome = await seal(deps, hold)
  if (outcome !== 'unknown_hold') return fateOf(deps, hold)
  return (await isRecorded(deps, hold)) ? { kind: 'charged', sinceMs: Number.POSITIVE_INFINITY } : { kind: 'free' }
}

async function isRecorded(deps: LedgerDeps, { accountId, holdId }: Hold): Promise<boolean> {
  for await (const record of streamedRecords(deps, shardOf(accountId))) if (record.holdId === holdId) return true
  const { history, runner } = deps
  return (await runner.guard(() => history.knownRecordIds([holdId, lateRecordId(holdId)]))).length > 0
}
