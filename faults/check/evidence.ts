/** What the invariants are checked against after a fault: the books as they stand, what clients saw, what the provider billed. */

import type { Tolerance } from '@faults/fault'
import type { Sighting } from '@faults/world/client'
import type { Sampler } from '@faults/world/sampler'
import type { World } from '@faults/world/world'

export const INVARIANTS = ['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8', 'I9', 'I10'] as const
type Invariant = (typeof INVARIANTS)[number]

/** One broken invariant, for people. */
export type Breach = { invariant: Invariant; detail: string }

/** One charge in the history. */
export type Charge = {
  recordId: string
  holdId: string
  accountId: string
  cost: number
  held: number
  rule: string
  flags: string[]
  startedAtMs: number
}

export type Evidence = {
  world: World
  /** Accounts of this fault. */
  accountIds: readonly string[]
  sightings: readonly Sighting[]
  sampler: Sampler
  /** Milliseconds since 1970. */
  startedAtMs: number
  tolerance: Tolerance
  /** Every charge of the fault's accounts. */
  charges: readonly Charge[]
}

/** Reads the charges of these accounts. */
export async function readCharges(world: World, accountIds: readonly string[]): Promise<Charge[]> {
  const rows = await world.bank.database.sql<ChargeRow[]>`
    SELECT event_id, hold_id, account_id, cost_nano, held_nano, rule, to_json(flags) AS flags,
      (extract(epoch FROM started_at) * 1000)::bigint AS started_at_ms
    FROM usage_records WHERE account_id IN ${world.bank.database.sql(['', ...accountIds])}
    ORDER BY started_at`
  return rows.map((row) => ({
    recordId: row.event_id,
    holdId: row.hold_id,
    accountId: row.account_id,
    cost: row.cost_nano,
    held: row.held_nano,
    rule: row.rule,
    flags: row.flags,
    startedAtMs: row.started_at_ms,
  }))
}

type ChargeRow = {
  event_id: string
  hold_id: string
  account_id: string
  cost_nano: number
  held_nano: number
  rule: string
  flags: string[]
  started_at_ms: number
}
