/** Connections to Postgres break at any moment, also between a COMMIT and the word that it was done. */
import { type Fault, seenDuring } from '@faults/fault'

const RESETS = 40
const PAUSE_MS = 60

export const f20: Fault = {
  id: 'F20',
  world: 'single',
  title: `all connections to Postgres are reset, ${RESETS} times within seconds`,
  promise: 'Inference is unaffected; a transaction whose outcome is unknown is repeated and counts once.',
  async run(stage) {
    const { postgresProxy } = stage.world
    await stage.traffic(10)
    await stage.inject(async () => {
      for (let count = 0; count < (stage.isQuick ? RESETS / 4 : RESETS); count++) {
        postgresProxy.resetAll()
        await Bun.sleep(stage.random.integer(0, 2 * PAUSE_MS))
      }
    })
    const bad = seenDuring(stage).filter(({ ending }) => ending !== 'complete')
    stage.expect(bad.length === 0, `${bad.length} requests ended ${bad[0]?.ending} (${bad[0]?.status})`)
    await stage.lift(() => undefined)
  },
}
