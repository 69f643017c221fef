/** A gateway is killed with streams open on it; the other one goes on. */

import { type Fault, type Stage, seenDuring } from '@faults/fault'
import type { Sighting } from '@faults/world/client'
import { CLIENT_FORMATS } from '@faults/world/request'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'

/** Until every stream has been renewed once: from then on its progress is on record. */
const AGE_MS = 2_600
const PAUSE_MS = 100
const WORDS = 60

export const f1: Fault = {
  id: 'F1',
  world: 'single',
  isQuick: true,
  title: 'a gateway is killed (SIGKILL) with streams open on it',
  promise:
    'Its streams break visibly and are charged what their last renewal recorded; no other gateway is touched; its holds are resolved within their time to live.',
  async run(stage) {
    const [first] = stage.world.gateways
    if (!first) return
    await stage.traffic(6)
    const doomed = openStreams(stage, stage.isQuick ? 20 : 100, 0)
    const spared = openStreams(stage, 10, 1)
    await until(() => stage.world.upstream.openAnswers() >= 10, 'the streams to be open')
    await Bun.sleep(AGE_MS)
    stage.tolerance.killedAtMs = [Date.now()]
    await stage.inject(async () => {
      first.signal('SIGKILL')
      await first.exited()
    })
    const broken = await doomed
    stage.expect(
      broken.every(({ ending }) => ending === 'broken' || ending === 'unanswered'),
      `a stream of the dead gateway ended ${broken.find(({ ending }) => ending !== 'broken')?.ending}`,
    )
    await stage.lift(() => first.start())
    const whole = await spared
    stage.expect(
      whole.every(({ ending }) => ending === 'complete'),
      'a stream of the other gateway did not complete',
    )
    expectOthersWell(stage)
  },
}

async function openStreams(stage: Stage<SingleWorld>, count: number, gateway: number): Promise<Sighting[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const customer = await stage.customer()
      const format = CLIENT_FORMATS[index % CLIENT_FORMATS.length] ?? 'messages'
      return stage.send({ customer, stream: true, format, words: WORDS, pauseMs: PAUSE_MS }, gateway)
    }),
  )
}

/** Clients of a gateway that lives get answers, whatever happens to its neighbour. */
function expectOthersWell(stage: Stage<SingleWorld>): void {
  const refused = seenDuring(stage).filter(({ ending }) => ending === 'refused')
  stage.expect(refused.length === 0, `a gateway that lives refused ${refused.length} requests`)
}
