/** The wall clocks of gateways are wrong, and jump. */
import { join } from 'node:path'
import type { Fault } from '@faults/fault'
import { send } from '@faults/world/client'

const SHIFTS_MS = [24 * 3_600_000, -3_600_000]
const PRELOAD = join(import.meta.dir, '..', 'world', 'shifted-clock.ts')
/** What the store's own clock may differ from ours. */
const CLOCK_SLACK_MS = 5_000

export const f22: Fault = {
  id: 'F22',
  world: 'single',
  title: 'gateways whose clocks are a day ahead and an hour behind, and jump as far again with streams open',
  promise: 'Nobody sees anything: no hold expires early or lives for ever, no charge is dated by a wrong clock.',
  async run(stage) {
    const { world } = stage
    const shifted = SHIFTS_MS.map((shiftMs, index) => ({
      shiftMs,
      gateway: world.spare(`shifted ${index + 1}`, PRELOAD),
    }))
    const everyone = [...world.gateways, ...shifted.map(({ gateway }) => gateway)]
    await stage.traffic(4)
    const before = world.gateways.flatMap((gateway) => gateway.lines('hold_expired')).length
    await stage.inject(() =>
      Promise.all(shifted.map(({ gateway, shiftMs }) => gateway.start({ CLOCK_SHIFT_MS: String(shiftMs) }))),
    )
    try {
      const seen = await Promise.all(
        shifted.map(async ({ gateway }) => {
          const customers = await Promise.all(Array.from({ length: 5 }, () => stage.customer()))
          const streams = customers.map((customer) =>
            send(gateway.url, { customer, stream: true, words: 60, pauseMs: 50 }),
          )
          await Bun.sleep(1_200)
          gateway.signal('SIGUSR2')
          return Promise.all(streams)
        }),
      )
      for (const sighting of seen.flat()) stage.see(sighting)
      const bad = seen.flat().find(({ ending }) => ending !== 'complete')
      stage.expect(bad === undefined, `a stream ended ${bad?.ending} (${bad?.status})`)
      const expired = everyone.flatMap((gateway) => gateway.lines('hold_expired')).length - before
      stage.expect(expired === 0, `${expired} holds expired`)
    } finally {
      for (const { gateway } of shifted) gateway.signal('SIGTERM')
      await Promise.all(shifted.map(({ gateway }) => gateway.exited()))
    }
    await stage.lift(() => undefined)
    const [row] = await world.bank.database.sql<{ count: number }[]>`
      SELECT count(*) AS count FROM usage_records
      WHERE settled_at > now() + ${CLOCK_SLACK_MS} * interval '1 millisecond'`
    stage.expect(row?.count === 0, `${row?.count} charges are dated in the future`)
  },
}
