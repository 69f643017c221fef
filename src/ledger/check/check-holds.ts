/** Checks that open holds and deadlines belong together: each hold has its deadline, each deadline its hold. */
import type { ViewDeps } from '@/ledger/accounts/account-view'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import { sumOverShards } from '@/ledger/store/all-shards'
import {
  deadlinesName,
  type HoldMember,
  holdMember,
  holdName,
  parseHoldMember,
  parsePayer,
  SHARD_COUNT,
  shardOf,
} from '@/ledger/store/names'
import { integerOf, listOf, wordOf } from '@/ledger/store/reply'
import type { Pace } from '@/lib/pace'
import type { Violation } from './violation'

/** A deadline may pass by this much before the sweepers count as dead. */
const SWEEP_GRACE_MS = 60_000
/** What one client sends together, the store answers in one go, and everybody else waits for it. */
const BATCH_SIZE = 50

/** Checks every hold of `holdNames` and every deadline. Returns what is broken, and how many holds are open. */
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

/** How many open holds have a deadline before `beforeMs`, milliseconds since 1970. */
export function countHoldsBefore({ redis, runner }: Omit<ViewDeps, 'history'>, beforeMs: number): Promise<number> {
  return sumOverShards(runner, (shard) => redis.zcount(deadlinesName(shard), '-inf', `(${beforeMs}`))
}

async function readOpenHolds(deps: ViewDeps, names: readonly string[]): Promise<HoldMember[]> {
  const read = (openHoldName: string) => deps.redis.hmget(openHoldName, 'state', 'payer', 'amount')
  const rows = await deps.runner.guard(() => Promise.all(names.map(read)))
  return rows.flatMap(([state, payerText, amount], index) => {
    const payer = parsePayer(payerText ?? '')
    const holdId = names[index]?.split(':').at(-1) ?? ''
    return state === 'open' && payer ? [{ ...payer, holdId, amount: Number(amount) }] : []
  })
}

async function checkHold(deps: ViewDeps, hold: HoldMember): Promise<Violation[]> {
  const { accountId, holdId } = hold
  const names = [holdName(accountId, holdId), deadlinesName(shardOf(accountId))]
  const view = listOf(await deps.runner.run(SCRIPTS.viewHold, names, [holdMember(hold)]))
  const nowMs = integerOf(view[0])
  const state = wordOf(view[1])
  const deadline = wordOf(view[3])
  const report = (kind: string, detail: string) => [{ kind, accountId, holdId, detail }]
  if (state === 'open' && deadline === '') return report('hold_without_deadline', `holds ${hold.amount}`)
  if (state !== 'open' && deadline !== '') return report('deadline_without_hold', `the hold is ${state || 'gone'}`)
  if (state === 'open' && wordOf(view[2]) !== String(hold.amount)) return report('hold_amount', wordOf(view[2]))
  if (deadline !== '' && Number(deadline) < nowMs - SWEEP_GRACE_MS) {
    return report('hold_overdue', `its deadline passed ${nowMs - Number(deadline)} ms ago`)
  }
  return []
}

function batchesOf<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / BATCH_SIZE)
  return Array.from({ length: count }, (_, batch) => items.slice(batch * BATCH_SIZE, (batch + 1) * BATCH_SIZE))
}
