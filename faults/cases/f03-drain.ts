/** A gateway is told to end (SIGTERM) with streams open on it, some of which will not end in time. */

import type { Fault } from '@faults/fault'
import { SHUTDOWN_TIMEOUT_MS } from '@faults/world/world'
import { until } from '@test/support/until'

/** Beyond the deadline: the books are put away as well. */
const EXIT_SLACK_MS = 2_500

export const f3: Fault = {
  id: 'F3',
  world: 'single',
  isQuick: true,
  title: 'a gateway gets SIGTERM with streams open on it',
  promise:
    'No new request is taken; streams that end within the deadline end well, the others in an error of their own format; all are charged; the process leaves with 0.',
  async run(stage) {
    const [first] = stage.world.gateways
    if (!first) return
    await stage.traffic(4)
    const customers = await Promise.all(Array.from({ length: 20 }, () => stage.customer()))
    const streams = customers.map((customer, index) =>
      // Half of them need one second, the others far more than the deadline leaves.
      stage.send({ customer, stream: true, words: index % 2 === 0 ? 20 : 200, pauseMs: 50 }),
    )
    await until(() => stage.world.upstream.openAnswers() >= customers.length, 'the streams to be open')
    const started = performance.now()
    await stage.inject(() => first.signal('SIGTERM'))
    await until(() => first.lines('"event":"draining"').length > 0, 'the drain to begin')
    const late = await stage.send({ customer: customers[0] ?? (await stage.customer()) })
    stage.expect(late.ending === 'unanswered' || late.status === 503, `a new request ended ${late.ending}`)
    const seen = await Promise.all(streams)
    const endings = (parity: number) =>
      new Set(seen.filter((_, index) => index % 2 === parity).map(({ ending }) => ending))
    stage.expect(
      endings(0).size === 1 && endings(0).has('complete'),
      `short streams ended ${[...endings(0)].join(', ')}`,
    )
    stage.expect(
      endings(1).size === 1 && endings(1).has('error-event'),
      `long streams ended ${[...endings(1)].join(', ')}`,
    )
    const code = await first.exited()
    const elapsedMs = performance.now() - started
    stage.expect(code === 0, `the process left with ${code}`)
    stage.expect(elapsedMs < SHUTDOWN_TIMEOUT_MS + EXIT_SLACK_MS, `it took ${Math.round(elapsedMs)} ms`)
    stage.expect(first.lines('"unacknowledged":0').length > 0, 'settlements were left unacknowledged')
    await stage.lift(() => first.start())
  },
}
