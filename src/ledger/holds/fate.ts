/** What became of a request whose gateway may be dead, judged by its hold. Asked before such a request is sent once more. */
import type { LedgerDeps } from '@/ledger/accounts/deps'
import type { HoldFate, Payer } from '@/ledger/outcomes'
import { streamedRecords } from '@/ledger/records/unsynced-records'
import { holdName, lateRecordId, shardOf } from '@/ledger/store/names'
import { seal } from './reserve'
import { viewHold } from './view-hold'

type Hold = Payer & { holdId: string }

/** How long a settled hold is remembered, as `src/ledger/scripts/preludes/holds.lua` says. What is left of it tells when that was. */
const TOMBSTONE_MS = 600_000

/** The fate by what the store remembers; `unknown` where that is nothing, or may change: what expired for nothing can be charged late. */
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
 * The fate of a hold that is no longer in use, for good. One that expired for nothing is sealed, and so is one that the
 * store does not know, which is then looked for among the records: those leave the stream only for the history, so they are
 * asked in this order. A gateway that was only stuck and reserves or charges it later finds it resolved.
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
