/** Entries that can never become charges lie among those that must. */

import type { Fault, Stage } from '@faults/fault'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'
import { streamFields, usageRecord } from '@test/usage/sample-records'
import { ZERO_USAGE } from '@/chat/usage'
import { recordsName, SHARD_COUNT, shardOf } from '@/ledger/store/names'

/** No record at all, a record without money, JSON that ends too early, and a moment that no calendar has. */
const POISON: readonly (readonly string[])[] = [
  ['no', 'event'],
  ['r', 'x acct_x:key_x settle 1e999 0 1 1760000000000  []'],
  ['r', 'x acct_x:key_x settle 1 0 1 1760000000000  ["torn'],
  streamFields(usageRecord({ holdId: 'timeless', atMs: Number.MAX_SAFE_INTEGER })),
]
/** Two charges that can be read, but whose tokens the history cannot add: one of them is booked without its record. */
const ABSURD = ['hold_absurd_one', 'hold_absurd_two']
const ABSURD_USAGE = { ...ZERO_USAGE, uncached: Number.MAX_SAFE_INTEGER }

export const f18: Fault = {
  id: 'F18',
  world: 'single',
  title: 'poison lies in the streams of charges',
  promise:
    'Nobody sees anything. The poison is put aside for a person after some tries, with an alert; all charges around it are booked.',
  async run(stage) {
    const { bank, gateways } = stage.world
    const { sql } = bank.database
    await stage.traffic(8)
    const before = gateways.flatMap((gateway) => gateway.lines('usage_record_dead_lettered')).length
    await stage.inject(async () => {
      for (const fields of POISON) {
        await bank.redis.xadd(recordsName(stage.random.integer(0, SHARD_COUNT - 1)), '*', ...fields)
      }
      await chargeAbsurdly(stage)
    })
    const expected = POISON.length + 1
    const putAside = async () => (await sql`SELECT 1 FROM dead_letters`).length === expected
    await until(putAside, 'the poison to be put aside', 60_000)
    const alerts = () => gateways.flatMap((gateway) => gateway.lines('usage_record_dead_lettered')).length - before
    await until(() => alerts() >= expected, 'the alerts').catch(() => undefined)
    stage.expect(alerts() === expected, `${alerts()} alerts for ${expected} entries`)
    const booked = await sql`SELECT 1 FROM usage_records WHERE hold_id IN ${sql(ABSURD)}`
    stage.expect(booked.length === ABSURD.length, `${booked.length} of the absurd charges are booked`)
    // A person has looked at them: what would otherwise be told by every check from now on is settled.
    await sql`DELETE FROM dead_letters`
    await stage.lift(() => undefined)
  },
}

/** Of a customer who does nothing else. */
async function chargeAbsurdly({ world }: Stage<SingleWorld>): Promise<void> {
  const { accountId, keyId } = await world.bank.customer(1)
  for (const holdId of ABSURD) {
    const record = usageRecord({ holdId, accountId, keyId, cost: 0, facts: { usage: ABSURD_USAGE } })
    await world.bank.redis.xadd(recordsName(shardOf(accountId)), '*', ...streamFields(record))
  }
}
