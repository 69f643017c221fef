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
    await stage.inject(() => undefined)
    const customer = await stage.customer()
    const failed: string[] = []
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
      failed.push(seen.marker)
      stage.expect(seen.status === 502, `a request ended ${seen.ending} ${seen.status}`)
    }
    await stage.lift(() => undefined)
    const calls = Map.groupBy(stage.world.upstream.calls, ({ marker }) => marker)
    const repeated = [...calls].filter(([, own]) => own.length > 1).map(([marker]) => marker)
    // A call that nothing was answered to is repeated or refused; what the provider had begun by then is our loss.
    stage.tolerance.waived = new Set([...repeated, ...failed])
    stage.note(`U10: ${failed.length} of ${REQUESTS} requests failed, ${repeated.length} reached the provider twice`)
    stage.expect(failed.length <= REQUESTS * FAILURES, `${failed.length} of ${REQUESTS} requests failed`)
  },
}
