/** A gateway is frozen for longer than its holds live, so that the other one's sweeper expires what it then settles. */

import type { Fault } from '@faults/fault'
import { HOLD_TTL_MS } from '@faults/world/world'
import { until } from '@test/support/until'

const FROZEN_MS = HOLD_TTL_MS + 3_000

export const f19: Fault = {
  id: 'F19',
  world: 'single',
  title: `a gateway is frozen (SIGSTOP) for ${FROZEN_MS / 1000} s with streams open; sweepers of two gateways race its settlements`,
  promise:
    'Its streams go on where they stopped; each is charged once, what expired early is corrected to the real usage.',
  async run(stage) {
    const [first, second] = stage.world.gateways
    if (!first || !second) return
    const customers = await Promise.all(Array.from({ length: 12 }, () => stage.customer()))
    const streams = customers.map((customer, index) =>
      // Some end while the gateway is frozen, as far as the provider knows, some long after.
      stage.send({ customer, stream: true, words: 30 + 10 * (index % 4), pauseMs: 60 }),
    )
    await until(() => stage.world.upstream.openAnswers() >= customers.length, 'the streams to be open')
    await Bun.sleep(1_500)
    await stage.inject(() => first.signal('SIGSTOP'))
    await Bun.sleep(FROZEN_MS)
    const expired = second.lines('hold_expired').length
    await stage.lift(() => first.signal('SIGCONT'))
    stage.expect(expired > 0, 'no hold expired: the fault did not happen')
    const seen = await Promise.all(streams)
    const bad = seen.find(({ ending }) => ending !== 'complete')
    stage.expect(bad === undefined, `a stream ended ${bad?.ending}`)
  },
}
