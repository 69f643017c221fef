/** Checks that each open hold has its deadline, and each deadline its hold. */
import type { ViewDeps } from '@/ledger/accounts/account-view'
import { viewHold } from '@/ledger/holds/view-hold'
import { sumOverShards } from '@/ledger/store/all-shards'
import {
  deadlinesName,
  type HoldMember,
  holdMember,
  holdName,
  parseHolder,
  parseHoldMember,
  SHARD_COUNT,
} from '@/ledger/store/names'
import type { Pace } from '@/lib/pace'
import type { Violation } from './violation'

/** If a hold is open this long after its deadline, no sweeper is running. */
const SWEEP_GRACE_MS = 60_000
/** Small, because commands sent together block all other clients. */
const BATCH_SIZE = 50

/** Checks the given holds and all deadlines. Returns the violations and the number of open holds. */
export async function checkHolds(
  deps: ViewDeps & { pace: Pace },
  holdNames: readonly string[],
): Promise<{ violations: Violation[]; openHolds: number }> {
  const suspects = new Map<string, HoldMember>()
  let openHolds = 0
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    const members = await deps.runner.guard(() => deps.redis.zrange(deadlinesName(shard), '0', '-1'))
    openHolds += members.length
    for (const member of members) {
      const hold = parseHoldMember(member)
      if (hold) suspects.set(member, hold)
    }
    await deps.pace()
  }
  for (const batch of batchesOf(holdNames)) {
    for (const hold of await readOpenHolds(deps, batch)) suspects.set(holdMember(hold), hold)
    await deps.pace()
  }
  const violations: Violation[] = []
  for (const batch of batchesOf([...suspects.values()])) {
    const found = await Promise.all(batch.map((hold) => checkHold(deps, hold)))
    violations.push(...found.flat())
    await deps.pace()
  }
  return { violations, openHolds }
}

/** Open holds with a deadline before `beforeMs` (milliseconds since 1970). */
export function countHoldsBefore({ redis, runner }: Omit<ViewDeps, 'history'>, beforeMs: number): Promise<number> {
  return sumOverShards(runner, (shard) => redis.zcount(deadlinesName(shard), '-inf', `(${beforeMs}`))
}

async function readOpenHolds(deps: ViewDeps, names: readonly string[]): Promise<HoldMember[]> {
  const holds = await Promise.all(names.map((name) => viewHold(deps.runner, name)))
  return holds.flatMap(({ state, payer, amount }, index) => {
    const owner = parseHolder(payer)
    const holdId = names[index]?.split(':').at(-1) ?? ''
    return state === 'open' && owner ? [{ ...owner, holdId, amount }] : []
  })
}

async function checkHold(deps: ViewDeps, hold: HoldMember): Promise<Violation[]> {
  const { accountId, holdId } = hold
  const { nowMs, state, amount, deadline } = await viewHold(deps.runner, holdName(accountId, holdId), holdMember(hold))
  const report = (kind: string, detail: string) => [{ kind, accountId, holdId, detail }]
  if (state === 'open' && deadline === '') return report('hold_without_deadline', `holds ${hold.amount}`)
  if (state !== 'open' && deadline !== '') return report('deadline_without_hold', `the hold is ${state || 'gone'}`)
  if (state === 'open' && amount !== hold.amount) return report('hold_amount', String(amount))
  if (deadline !== '' && Number(deadline) < nowMs - SWEEP_GRACE_MS) {
    return report('hold_overdue', `its deadline passed ${nowMs - Number(deadline)} ms ago`)
  }
  return []
}

function batchesOf<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / BATCH_SIZE)
  return Array.from({ length: count }, (_, batch) => items.slice(batch * BATCH_SIZE, (batch + 1) * BATCH_SIZE))
}
