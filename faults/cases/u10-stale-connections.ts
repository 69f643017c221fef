/** The provider closes idle connections in the very moment in which the next request is sent on them. */
import type { Fault } from '@faults/fault'
import { defaultScript } from '@faults/world/scripts'
import { sendScripted } from './scripted'

const REQUESTS = 150
/** How many may fail at most. */
const FAILURES = 0.1

export const u10: Fault = {
  id: 'U10',
  world: 'single',
  title: `the provider closes each connection just as it is used again, ${REQUESTS} times`,
  promise:
    'The request is sent again on a new connection, or is a 502 free of charge; its caller is never charged twice.',
  async run(stage) {
    await stage.traffic(2)
    await stage.inject(() => undefined)
    const customer = await stage.customer()
    let failed = 0
    for (let index = 0; index < REQUESTS; index++) {
      const closeAfterMs = stage.random.integer(0, 3)
      const seen = await sendScripted(
        stage,
        async (exchange) => {
          await defaultScript(exchange)
          setTimeout(() => exchange.answer.close(), closeAfterMs)
        },
        { customer, model: 'stale', words: 1 },
      )
      if (seen.ending === 'complete') continue
      failed++
      stage.expect(seen.status === 502, `a request ended ${seen.ending} ${seen.status}`)
    }
    const calls = Map.groupBy(stage.world.upstream.calls, ({ marker }) => marker)
    const repeated = [...calls].filter(([, own]) => own.length > 1).map(([marker]) => marker)
    // A call that nothing was answered to is repeated on a new connection; what the provider had begun by then is our loss.
    stage.tolerance.waived = new Set(repeated)
    stage.note(`U10: ${failed} of ${REQUESTS} requests failed, ${repeated.length} reached the provider twice`)
    stage.expect(failed <= REQUESTS * FAILURES, `${failed} of ${REQUESTS} requests failed`)
    await stage.lift(() => undefined)
  },
}
