/** The fate of a request whose gateway may be dead, from its hold. Needed before the request is sent again. */
import type { LedgerDeps } from '@/ledger/accounts/deps'
import type { HoldFate, Payer } from '@/ledger/outcomes'
import { streamedRecords } from '@/ledger/records/unsynced-records'
import { holdName, lateRecordId, shardOf } from '@/ledger/store/names'
import { seal } from './reserve'
import { viewHold } from './view-hold'

type Hold = Payer & { holdId: string }

/** The life of a tombstone, as in `src/ledger/scripts/preludes/holds.lua`. Its rest tells the time of the settlement. */
const TOMBSTONE_MS = 600_000

/**
 * The fate as the store remembers it. `unknown` if it remembers nothing, or if it may change: an expired free hold can be
 * charged late.
 */
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
 * The final fate of a hold that is no longer in use. Seals a hold that expired without a charge, and an unknown one. Then it
 * looks for the record in the stream and after that in the history, since a record leaves the stream only for the history. A
 * stuck gateway that reserves or charges the hold later finds it resolved.
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
