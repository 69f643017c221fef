/** Entries that can never become charges lie among those that must. */

import type { Fault } from '@faults/fault'
import { until } from '@test/support/until'
import { eventsKey, SHARD_COUNT } from '@/ledger/keys'

/** No event at all, an event without money, and JSON that ends too early. */
const POISON: readonly (readonly string[])[] = [
  ['no', 'event'],
  ['eventId', 'x', 'holdId', 'x', 'cost', '1e999'],
  ['record', '{"torn":'],
]

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
    const before = gateways.flatMap((gateway) => gateway.lines('usage_event_dead_lettered')).length
    await stage.inject(async () => {
      for (const fields of POISON) {
        await bank.redis.xadd(eventsKey(stage.random.integer(0, SHARD_COUNT - 1)), '*', ...fields)
      }
    })
    const putAside = async () => (await sql`SELECT 1 FROM dead_letters`).length === POISON.length
    await until(putAside, 'the poison to be put aside', 60_000)
    const alerts = () => gateways.flatMap((gateway) => gateway.lines('usage_event_dead_lettered')).length - before
    await until(() => alerts() >= POISON.length, 'the alerts').catch(() => undefined)
    stage.expect(alerts() === POISON.length, `${alerts()} alerts for ${POISON.length} entries`)
    // A person has looked at them: what would otherwise be told by every check from now on is settled.
    await sql`DELETE FROM dead_letters`
    await stage.lift(() => undefined)
  },
}
