/** The provider answers 200 with something that is no answer, and many answers at once that must not be mixed up. */
import type { Fault, Stage } from '@faults/fault'
import type { Customer } from '@faults/world/bank'
import type { Sighting } from '@faults/world/client'
import type { Exchange } from '@faults/world/exchange'
import { CLIENT_FORMATS } from '@faults/world/request'
import type { SingleWorld } from '@faults/world/world'
import { UNAVAILABLE } from './expect'
import { sendScripted } from './scripted'

const CROWD = 1_000
const COME_BACK_MS = 100

const BODIES: Record<string, [contentType: string, body: string]> = {
  'a page': ['text/html', '<html><body>Bad gateway</body></html>'],
  nothing: ['application/json', ''],
  'JSON of another kind': ['application/json', '{"hello":"world"}'],
  'a number': ['application/json', '42'],
  'JSON as plain text': ['text/plain', 'null'],
}

export const u12: Fault = {
  id: 'U12',
  world: 'single',
  isQuick: true,
  title: `the provider answers 200 with ${Object.keys(BODIES).join(', ')}; and ${CROWD} answers at once`,
  promise: '502, free of charge; of many at once, every client gets the words of its own request and no others.',
  async run(stage) {
    await stage.inject(() => undefined)
    for (const [what, [contentType, body]] of Object.entries(BODIES)) {
      for (const stream of [true, false]) {
        const customer = await stage.customer()
        const play = async ({ answer }: Exchange) => {
          answer.head(200, { 'content-type': contentType }, { kind: 'length', bytes: Buffer.byteLength(body) })
          await answer.write(body)
          answer.end()
        }
        const seen = await sendScripted(stage, play, { customer, model: 'mixed', stream })
        stage.expect(seen.status === 502, `${what}: ended ${seen.ending} ${seen.status}`)
        const balance = await stage.world.bank.ledger.readBalance(customer.accountId)
        stage.expect(balance?.spent === 0, `${what}: charged ${balance?.spent}`)
      }
    }
    const customers = await Promise.all(Array.from({ length: 10 }, () => stage.customer()))
    const crowd = await Promise.all(
      Array.from({ length: stage.isQuick ? CROWD / 10 : CROWD }, (_, index) => ask(stage, customers, index)),
    )
    const bad = crowd.filter(({ ending }) => ending !== 'complete')
    stage.expect(bad.length === 0, `${bad.length} of ${crowd.length} ended ${bad[0]?.ending} ${bad[0]?.status}`)
    await stage.lift(() => undefined)
  },
}

/** Asks until it is answered: what comes at once may be more than there is room for, and is then told to come back. */
async function ask(stage: Stage<SingleWorld>, customers: readonly Customer[], index: number): Promise<Sighting> {
  for (;;) {
    const wish = {
      ...{ customer: stage.random.pick(customers), format: stage.random.pick(CLIENT_FORMATS), stream: index % 3 !== 0 },
      ...{ words: stage.random.integer(5, 30), pauseMs: stage.random.integer(0, 20) },
    }
    const seen = await stage.send(wish, index % 2)
    if (!UNAVAILABLE.has(seen.status) || seen.retryAfter === null) return seen
    await Bun.sleep(COME_BACK_MS)
  }
}
