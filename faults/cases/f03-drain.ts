/** A gateway is told to end (SIGTERM) with streams open on it, some of which will not end in time. */

import type { Fault, Stage } from '@faults/fault'
import { SHUTDOWN_TIMEOUT_MS, type SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'

/** Beyond the deadline: the books are put away as well. */
const EXIT_SLACK_MS = 2_500
/** A second signal that comes sooner counts as an echo of the first. */
const ECHO_MS = 1_000

export const f3: Fault = {
  id: 'F3',
  world: 'single',
  isQuick: true,
  title: 'a gateway gets SIGTERM with streams open on it',
  promise:
    'No new request is taken; streams that end within the deadline end well, the others in an error of their own format; all are charged; the process leaves with 0. A second signal ends it at once.',
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
    const readiness = await fetch(`${first.url}/readyz`)
      .then(({ status }) => status)
      .catch(() => 'refused')
    stage.expect(readiness === 503 || readiness === 'refused', `readiness said ${readiness}`)
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
    await hurry(stage)
  },
}

/** Two signals: nobody waits for the streams any longer, and their holds are left to expire. */
async function hurry(stage: Stage<SingleWorld>): Promise<void> {
  const [first] = stage.world.gateways
  if (!first) return
  const customers = await Promise.all(Array.from({ length: 4 }, () => stage.customer()))
  const before = stage.world.upstream.calls.length
  const streams = customers.map((customer) => stage.send({ customer, stream: true, words: 200, pauseMs: 50 }))
  await until(() => stage.world.upstream.calls.length >= before + customers.length, 'the streams to be open')
  first.signal('SIGTERM')
  await Bun.sleep(ECHO_MS + 200)
  const started = performance.now()
  stage.tolerance.killedAtMs = [Date.now()]
  first.signal('SIGTERM')
  const code = await first.exited()
  const elapsedMs = performance.now() - started
  stage.expect(
    code === 1 && elapsedMs < ECHO_MS,
    `a second signal: left with ${code} after ${Math.round(elapsedMs)} ms`,
  )
  await Promise.all(streams)
  await first.start()
}
