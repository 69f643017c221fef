/** A key is revoked, an account suspended, a balance used up, while gateways know them by heart and streams are open. */

import type { Fault, Stage } from '@faults/fault'
import type { Customer } from '@faults/world/bank'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'

/** New requests are refused on all gateways after this long. */
const NOTICE_MS = 1_000

type Case = { what: string; status: number; take(stage: Stage<SingleWorld>, customer: Customer): Promise<unknown> }

const CASES: readonly Case[] = [
  { what: 'the key is deactivated', status: 401, take: ({ world }, { keyId }) => world.bank.apiKeys.deactivate(keyId) },
  { what: 'the key is deleted', status: 401, take: ({ world }, { keyId }) => world.bank.apiKeys.delete(keyId) },
  {
    what: 'the account is suspended',
    status: 403,
    take: ({ world }, { accountId }) => world.bank.accounts.setStatus(accountId, 'suspended'),
  },
  {
    what: 'the balance is taken back',
    status: 402,
    async take({ world }, { accountId }) {
      const balance = await world.bank.ledger.readBalance(accountId)
      await world.bank.payIn(accountId, -(balance?.available ?? 0))
    },
  },
]

export const c7: Fault = {
  id: 'C7',
  world: 'single',
  isQuick: true,
  title: `while gateways know the key by heart and a stream is open: ${CASES.map(({ what }) => what).join('; ')}`,
  promise: `New requests are refused by all gateways within ${NOTICE_MS / 1000} s; the open stream ends well at its own price.`,
  async run(stage) {
    await stage.traffic(4)
    await stage.inject(() => undefined)
    await Promise.all(CASES.map((one) => revoke(stage, one)))
    await stage.lift(() => undefined)
  },
}

async function revoke(stage: Stage<SingleWorld>, { what, status, take }: Case): Promise<void> {
  const customer = await stage.customer()
  for (const gateway of [0, 1]) {
    const known = await stage.send({ customer }, gateway)
    stage.expect(known.ending === 'complete', `before ${what}: ${known.ending} ${known.status}`)
  }
  const before = stage.world.upstream.calls.length
  const open = stage.send({ customer, stream: true, words: 40, pauseMs: 50 })
  await until(() => stage.world.upstream.calls.length > before, 'the stream to be open')
  await take(stage, customer)
  const taken = performance.now()
  for (const gateway of [0, 1]) {
    const refused = async () => (await stage.send({ customer }, gateway)).status === status
    await until(refused, 'a refusal', NOTICE_MS).catch(() =>
      stage.expect(false, `${what}: gateway ${gateway + 1} goes on`),
    )
  }
  stage.note(`C7: ${what}: refused everywhere after ${Math.round(performance.now() - taken)} ms`)
  const seen = await open
  stage.expect(seen.ending === 'complete', `${what}: the open stream ended ${seen.ending}`)
}
