/** Connections to Postgres break at any moment, also between a COMMIT and the word that it was done. */
import { type Fault, seenDuring } from '@faults/fault'

const RESETS = 40
const PAUSE_MS = 60
/** The share of requests that may be refused: here batches are taken over after 3 s already, and not after 30. */
const REFUSED = 0.03

export const f20: Fault = {
  id: 'F20',
  world: 'single',
  title: `all connections to Postgres are reset, ${RESETS} times within seconds`,
  promise:
    'A transaction whose outcome is unknown is repeated and counts once; hardly a request is refused while a shard is compared.',
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
    const seen = seenDuring(stage).length
    // A worker that finds its batch stored by another one has accounts compared with the history that is being reset.
    const isRefused = bad.every(({ ending, status }) => ending === 'refused' && (status === 503 || status === 529))
    stage.expect(isRefused && bad.length <= seen * REFUSED, `${bad.length} of ${seen} requests ended ${bad[0]?.ending}`)
    stage.note(`F20: ${bad.length} of ${seen} requests were refused`)
    await stage.lift(() => undefined)
  },
}
