/** The provider answers with an error, of every kind. */
import type { Fault, Stage } from '@faults/fault'
import { UPSTREAM_SECRET } from '@faults/world/catalog-file'
import type { Exchange } from '@faults/world/exchange'
import { defaultScript } from '@faults/world/scripts'
import type { SingleWorld } from '@faults/world/world'
import { refusing, sendScripted } from './scripted'

/** The provider's status, and what of it the caller may be told. A provider that refuses *our* key is never the caller's 401. */
const STATUSES: readonly [status: number, told: readonly number[], headers?: Record<string, string>][] = [
  [429, [503, 529]],
  [500, [502]],
  [502, [502]],
  [503, [503, 529]],
  [504, [504]],
  [529, [503, 529]],
  [401, [502]],
  [403, [502]],
  [404, [502]],
  [413, [413]],
  [400, [400]],
  [429, [503, 529], { 'retry-after': '7' }],
]
/** What providers let slip in the bodies of their errors. */
const INDISCREET = `key ${UPSTREAM_SECRET} of org-5f0e8d21c7aa at https://internal.example/v1 is over its limit`

export const u8: Fault = {
  id: 'U8',
  world: 'single',
  isQuick: true,
  title: `the provider answers ${[...new Set(STATUSES.map(([status]) => status))].join(', ')}; and one of two providers answers 500`,
  promise:
    'A documented status, free of charge, a pause that was asked for, without a word of our credentials; where there is a second provider, its answer, charged once.',
  async run(stage) {
    await stage.traffic(4)
    await stage.inject(() => undefined)
    for (const [status, told, headers] of STATUSES) {
      const customer = await stage.customer()
      const seen = await sendScripted(stage, refusing(status, headers, INDISCREET), { customer, model: 'status' })
      stage.expect(told.includes(seen.status), `${status} became ${seen.status}`)
      if (told.includes(503)) stage.expect(seen.retryAfter !== null, `${status} came without retry-after`)
      if (headers) stage.expect(seen.retryAfter === headers['retry-after'], `retry-after became ${seen.retryAfter}`)
      const balance = await stage.world.bank.ledger.readBalance(customer.accountId)
      stage.expect(balance?.spent === 0, `${status} was charged ${balance?.spent}`)
    }
    await keepRest(stage)
    await failOver(stage)
    await stage.lift(() => undefined)
  },
}

/** The provider has just asked for a pause: it is not called before that is over. */
async function keepRest(stage: Stage<SingleWorld>): Promise<void> {
  let calls = 0
  const customer = await stage.customer()
  const counted = (exchange: Exchange) => {
    calls += 1
    return refusing(500)(exchange)
  }
  const seen = await sendScripted(stage, counted, { customer, model: 'status' })
  stage.expect(seen.status === 503 && calls === 0, `during a pause: ${seen.status} after ${calls} calls`)
  stage.expect(Number(seen.retryAfter) > 0 && Number(seen.retryAfter) <= 7, `retry-after became ${seen.retryAfter}`)
}

/** Two providers of one model: the first fails each request, the second answers it. */
async function failOver(stage: Stage<SingleWorld>): Promise<void> {
  for (let repeat = 0; repeat < 6; repeat++) {
    const customer = await stage.customer()
    const seen = await sendScripted(
      stage,
      (exchange) => (exchange.call.path.startsWith('/first') ? refusing(500)(exchange) : defaultScript(exchange)),
      { customer, model: 'second', stream: repeat % 2 === 0 },
    )
    stage.expect(seen.ending === 'complete', `with a second provider: ended ${seen.ending} ${seen.status}`)
  }
}
