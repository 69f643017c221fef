/** A process dies after its charges are committed to Postgres and before they are acknowledged to Redis. */
import type { Fault } from '@faults/fault'

const ROUNDS = 8
const BATCHES = 6

export const f17: Fault = {
  id: 'F17',
  world: 'single',
  isQuick: true,
  title:
    'a process dies between the commit to Postgres and the acknowledgement, again and again, with another flusher beside it',
  promise: 'The charges are delivered again and booked once.',
  async run(stage) {
    const [first] = stage.world.gateways
    if (!first) return
    stage.tolerance.killedAtMs = []
    await stage.traffic(8)
    for (let round = 0; round < (stage.isQuick ? 1 : ROUNDS); round++) {
      stage.tolerance.killedAtMs.push(Date.now())
      await stage.inject(async () => {
        first.signal('SIGKILL')
        await first.exited()
      })
      await first.start({ CRASH_AT: `booked:${stage.random.integer(1, BATCHES)}` })
      await first.exited()
      stage.tolerance.killedAtMs.push(Date.now())
    }
    await stage.lift(() => first.start())
  },
}
