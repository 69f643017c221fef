/** One machine with the gateways and Redis loses its power: nobody is left who remembers the last seconds but the disk. */
import type { Fault } from '@faults/fault'
import { watchSize } from './f06-power-loss'

/** What `appendfsync everysec` may cost. */
const WINDOW_MS = 2_000
const CLIENTS = 12

export const f6Machine: Fault = {
  id: 'F6m',
  world: 'single',
  isQuick: true,
  title: `gateways and Redis die together (the last ${WINDOW_MS / 1_000} s of Redis' file are gone)`,
  promise:
    'As F1 for broken answers, of which nothing is known that was recorded in those seconds. Each whole answer is charged once: the next start reads the settlements of those seconds from the journals.',
  async run(stage) {
    const { redis, gateways } = stage.world
    stage.tolerance.storeLost = true
    stage.tolerance.killedAtMs = []
    stage.tolerance.recordsLostMs = WINDOW_MS
    const sizes = watchSize(redis)
    await stage.traffic(CLIENTS)
    await Bun.sleep(WINDOW_MS)
    await stage.inject(async () => {
      for (const gateway of gateways) gateway.signal('SIGKILL')
      await Promise.all([redis.kill(), ...gateways.map((gateway) => gateway.exited())])
      stage.tolerance.killedAtMs?.push(Date.now())
    })
    const lost = await redis.cutFile(sizes.before(performance.now() - WINDOW_MS))
    stage.note(`F6m: ${lost.transitions} acknowledged writes (${lost.bytes} bytes) were gone`)
    stage.expect(lost.transitions > 0, 'nothing was lost: the fault did not happen')
    await redis.start()
    await stage.lift(() => Promise.all(gateways.map((gateway) => gateway.start())))
  },
}
