/** I1 to I5: the money of store and history adds up, nothing is overdrawn, every hold ended once, every charge is booked once. */

import type { World } from '@faults/world/world'
import { reconcileHistory } from '@/accounts/reconcile'
import { checkLedger } from '@/ledger/check/check'
import { findNames } from '@/ledger/check/store-names'
import { viewHold } from '@/ledger/holds/view-hold'
import { commandTimeoutOf } from '@/ledger/store/connection'
import { createScriptRunner } from '@/ledger/store/script-runner'
import type { Breach, Charge, Evidence } from './evidence'

/** Kinds of violation that `admin ledger check` tells, and the invariant that each belongs to. Everything else is I1. */
const INVARIANT_OF: Record<string, Breach['invariant']> = {
  overdrawn: 'I2',
  hold_overdue: 'I3',
  hold_without_deadline: 'I3',
  deadline_without_hold: 'I3',
  hold_already_charged: 'I3',
  event_counted_twice: 'I4',
  daily_sum_differs: 'I4',
  dead_letter: 'I4',
  charged_more_than_held: 'I5',
  ledger_entries_not_protected: 'I7',
}

/** What `admin ledger check` says, and the sampler. */
export async function checkMoney(evidence: Evidence): Promise<Breach[]> {
  const { world, tolerance, sampler } = evidence
  const { redis, history, logger, database } = world.bank
  const [ledger, books] = [await checkLedger({ redis, history, logger }), await reconcileHistory(database, 'records')]
  const expected = new Set(tolerance.expectedViolations)
  const breaches = [...ledger.violations, ...books.violations]
    .filter((violation) => !expected.has(violation.kind))
    .map(({ kind, accountId, holdId, detail }): Breach => {
      const subject = [accountId, holdId].filter(Boolean).join(' ')
      return { invariant: INVARIANT_OF[kind] ?? 'I1', detail: `${kind} ${subject}: ${detail}` }
    })
  const overdrawn = sampler.violations().map((detail): Breach => ({ invariant: 'I2', detail }))
  return [...breaches, ...overdrawn, ...(await checkSums(evidence))]
}

/** I1 once more, by our own arithmetic: what we paid in, less what was charged, is what store and history say is left. */
async function checkSums({ world, accountIds, charges }: Evidence): Promise<Breach[]> {
  const { bank } = world
  const charged = new Map<string, number>()
  for (const { accountId, cost } of charges) charged.set(accountId, (charged.get(accountId) ?? 0) + cost)
  const snapshots = await bank.history.accounts([...accountIds])
  const breaches: Breach[] = []
  for (const { accountId, balance } of snapshots) {
    const left = (bank.paidIn.get(accountId) ?? 0) - (charged.get(accountId) ?? 0)
    const stored = await bank.ledger.readBalance(accountId)
    const spendable = stored ? stored.available + stored.held : undefined
    if (balance !== left)
      breaches.push({ invariant: 'I1', detail: `${accountId}: history ${balance}, should be ${left}` })
    if (spendable !== left)
      breaches.push({ invariant: 'I1', detail: `${accountId}: store ${spendable}, should be ${left}` })
  }
  return breaches
}

type StoredHold = { holdId: string; accountId: string; state: string; cost: number }

/** I3 and I4: every hold of these accounts is resolved, and every resolution that charged is one sum in the history. */
export async function checkHolds(evidence: Evidence): Promise<Breach[]> {
  const { world, accountIds, charges, tolerance } = evidence
  const booked = new Map<string, number>()
  for (const { holdId, cost } of charges) booked.set(holdId, (booked.get(holdId) ?? 0) + cost)
  const breaches: Breach[] = []
  const own = new Set(accountIds)
  const holds = (await readHolds(world)).filter(({ accountId }) => own.has(accountId))
  for (const { holdId, state, cost } of holds) {
    if (state === 'open') breaches.push({ invariant: 'I3', detail: `${holdId} is still open` })
    const isCharged = state === 'settled' || state === 'expired'
    const inHistory = booked.get(holdId) ?? 0
    // A store that came back without its memory closes what the history has charged, without knowing the amount.
    if (tolerance.storeLost && state === 'settled' && cost === 0) continue
    if (isCharged && inHistory !== cost) {
      breaches.push({ invariant: 'I4', detail: `${holdId} ${state} at ${cost}, in the history ${inHistory}` })
    }
    if (!isCharged && inHistory !== 0)
      breaches.push({ invariant: 'I3', detail: `${holdId} is ${state} and charged ${inHistory}` })
  }
  if (tolerance.storeLost) return breaches
  const known = new Set(holds.map(({ holdId }) => holdId))
  for (const holdId of booked.keys()) {
    if (!known.has(holdId))
      breaches.push({ invariant: 'I4', detail: `${holdId} is charged, and the store never heard of it` })
  }
  return breaches
}

async function readHolds(world: World): Promise<StoredHold[]> {
  const { redis } = world.bank
  const names = (await findNames(redis, async () => {})).holds
  const runner = createScriptRunner(redis, commandTimeoutOf(redis))
  const holds = await Promise.all(names.map((name) => viewHold(runner, name)))
  return holds.flatMap(({ payer, state, cost }, index) => {
    if (payer === '') return []
    const holdId = names[index]?.split(':').at(-1) ?? ''
    return [{ holdId, accountId: payer.split(':')[0] ?? '', state, cost }]
  })
}

/** I5: 0 ≤ charge ≤ hold, except by the rules that say so. */
export function checkAmounts({ charges }: Evidence): Breach[] {
  const byHold = Map.groupBy(charges, ({ holdId }) => holdId)
  return [...byHold].flatMap(([holdId, own]) => {
    const total = own.reduce((sum, { cost }) => sum + cost, 0)
    const held = Math.max(...own.map((charge) => charge.held))
    const isMarked = own.some(({ flags }) => flags.some((flag) => MAY_EXCEED.has(flag)))
    if (own.some(({ cost }) => !Number.isSafeInteger(cost)) || total < 0) return [breach(holdId, `charges ${total}`)]
    return total > held && !isMarked ? [breach(holdId, `charges ${total} of ${held} held`)] : []
  })
}

const MAY_EXCEED: ReadonlySet<string> = new Set(['overrun', 'late', 'forced'])

function breach(holdId: Charge['holdId'], detail: string): Breach {
  return { invariant: 'I5', detail: `${holdId} ${detail}` }
}
