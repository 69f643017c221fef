/** A thousand requests at once, through two gateways, with money for exactly ten. */

import type { Fault, Stage } from '@faults/fault'
import type { Customer } from '@faults/world/bank'
import { MAX_OUTPUT_TOKENS } from '@faults/world/catalog-file'
import { newMarker, type Sighting } from '@faults/world/client'
import { defaultScript } from '@faults/world/scripts'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'
import { UNAVAILABLE } from './expect'

const REQUESTS = 1_000
const AFFORDABLE = 10
const MAX_TOKENS = MAX_OUTPUT_TOKENS
const COME_BACK_MS = 100

export const c4: Fault = {
  id: 'C4',
  world: 'single',
  isQuick: true,
  title: `${REQUESTS} requests at once over two gateways with money for exactly ${AFFORDABLE}: with one key, and with ten`,
  promise: `Exactly ${AFFORDABLE} reach the provider, all others get 402; the balance is never below zero.`,
  async run(stage) {
    await stage.inject(() => undefined)
    await race(stage, 1)
    await race(stage, 10)
    await stage.lift(() => undefined)
  },
}

async function race(stage: Stage<SingleWorld>, keys: number): Promise<void> {
  const { bank, upstream } = stage.world
  const hold = await measureHold(stage)
  const customer = await stage.customer((hold * AFFORDABLE + hold / 2) / 1e9)
  const customers = [customer]
  while (customers.length < keys) customers.push(await anotherKey(stage, customer))
  const release = Promise.withResolvers<void>()
  const reached = new Set<string>()
  let refused = 0
  const requests = stage.isQuick ? REQUESTS / 10 : REQUESTS
  const race = Array.from({ length: requests }, async (_, index): Promise<Sighting> => {
    const payer = customers[index % keys] ?? customer
    for (;;) {
      const marker = newMarker()
      upstream.script(marker, async (exchange) => {
        reached.add(marker)
        await release.promise
        await defaultScript(exchange)
      })
      const seen = await stage.send({ customer: payer, marker, maxTokens: MAX_TOKENS }, index % 2)
      if (seen.status === 402) refused++
      // A gateway that is asked too much at once sends away; who comes back is in the race again.
      if (!UNAVAILABLE.has(seen.status)) return seen
      await Bun.sleep(COME_BACK_MS)
    }
  })
  await until(() => refused === requests - AFFORDABLE, `${requests - AFFORDABLE} refusals`).catch(() => undefined)
  stage.expect(reached.size === AFFORDABLE, `${keys} keys: ${reached.size} requests reached the provider`)
  stage.expect(refused === requests - AFFORDABLE, `${keys} keys: ${refused} requests were refused`)
  const { available } = (await bank.ledger.readBalance(customer.accountId)) ?? { available: -1 }
  stage.expect(available >= 0, `${keys} keys: ${available} available`)
  release.resolve()
  const seen = await Promise.all(race)
  const answered = seen.filter(({ ending }) => ending === 'complete').length
  stage.expect(answered === AFFORDABLE, `${keys} keys: ${answered} answers`)
}

/** What one such request holds, seen from outside: the balance while it is open. */
async function measureHold(stage: Stage<SingleWorld>): Promise<number> {
  const { bank, upstream } = stage.world
  const customer = await stage.customer()
  const marker = newMarker()
  const release = Promise.withResolvers<void>()
  upstream.script(marker, async (exchange) => {
    await release.promise
    await defaultScript(exchange)
  })
  const answer = stage.send({ customer, marker, maxTokens: MAX_TOKENS })
  const held = await until(async () => (await bank.ledger.readBalance(customer.accountId))?.held, 'the hold')
  release.resolve()
  await answer
  return held
}

async function anotherKey({ world }: Stage<SingleWorld>, { accountId }: Customer): Promise<Customer> {
  const created = await world.bank.apiKeys.create({ accountId, name: 'another' })
  if (created.kind !== 'created') throw new Error('the account exists')
  return { accountId, keyId: created.keyId, key: created.key }
}
