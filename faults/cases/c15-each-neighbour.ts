/** One customer does the worst that there is with one thing that all share, a fault for each: another one hardly notices. */
import type { Fault } from '@faults/fault'
import { openNeighbourhood } from '@faults/world/neighbourhood'
import { NEIGHBOURS } from '@test/fuzz/bad-neighbours'
import { judgeNeighbours } from '@test/fuzz/neighbours'

/** What the pod of `deploy/kubernetes` has. */
const POD_BYTES = 2 * 1024 ** 3
/** Times are judged in the long form only, by the middle one of so many rounds. */
const ROUNDS = 3
const LIMIT_MS = 600_000

/** Named by the resource, as in src/limits/shared-resources.ts. */
export const c15: readonly Fault[] = Object.entries(NEIGHBOURS).map(([resource, cases]) => ({
  id: `C15.${resource}`,
  world: 'single',
  title: `one customer: ${cases.map(({ name }) => name).join(', ')}`,
  promise:
    'Another customer gets every answer, and waits for none three times as long as alone. A pod has memory enough.',
  limitMs: LIMIT_MS,
  async run(stage) {
    const { neighbourhood, peakBytes, close } = await openNeighbourhood(stage.world)
    try {
      const noticed = await judgeNeighbours(neighbourhood, stage.note, resource, stage.isQuick ? 1 : ROUNDS)
      for (const what of noticed) stage.expect(stage.isQuick && !what.includes('failed'), what)
      stage.expect(peakBytes() < POD_BYTES, `the gateway took ${Math.round(peakBytes() / 2 ** 20)} MiB`)
      stage.note(`at most ${Math.round(peakBytes() / 2 ** 20)} MiB`)
    } finally {
      await close()
    }
  },
}))
