/** Redis loses everything, under traffic or with its disk. */

import { rm } from 'node:fs/promises'
import { type Fault, type Stage, seenDuring } from '@faults/fault'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'
import { NANO_PER_USD } from '@/lib/money'
import { expectClosedFor } from './expect'

/** What one emptying may cost requests that are under way in this very moment. */
const SETTLE_MS = 1_500
/** Between two looks at a balance. */
const LOOK_MS = 5

export const f8: Fault = {
  id: 'F8',
  world: 'single',
  isQuick: true,
  title: 'Redis is emptied under load (FLUSHALL)',
  promise:
    'It is noticed, although all connections stay. Accounts are rebuilt from Postgres on their next use, before they pay for anything; nobody is shown a false balance; open answers end well and are charged.',
  async run(stage) {
    stage.tolerance.storeLost = true
    const { gateways, redis } = stage.world
    await stage.traffic(12)
    const noticed = () => gateways.flatMap((gateway) => gateway.lines('"event":"ledger_epoch_changed"')).length
    const before = noticed()
    const watch = await watchBalance(stage)
    await stage.inject(() => redis.admin.flushall())
    await Bun.sleep(SETTLE_MS)
    await until(() => noticed() > before, 'somebody to notice').catch(() => stage.expect(false, 'nobody noticed'))
    await watch.end()
    const bad = seenDuring(stage).filter(({ ending }) => ending !== 'complete')
    stage.expect(bad.length === 0, `${bad.length} requests ended ${bad[0]?.ending} (${bad[0]?.status})`)
    await stage.lift(() => undefined)
  },
}

/** Asks a gateway again and again what an account that spends nothing has. */
async function watchBalance(stage: Stage<SingleWorld>): Promise<{ end(): Promise<void> }> {
  const { accountId, key } = await stage.customer()
  const paidIn = (stage.world.bank.paidIn.get(accountId) ?? 0) / NANO_PER_USD
  let isOver = false
  const reading = (async () => {
    for (let turn = 0; !isOver; turn++) {
      const url = stage.world.gateways[turn % stage.world.gateways.length]?.url
      const response = await fetch(`${url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } })
      const { credits_remaining: shown } = (await response.json()) as { credits_remaining?: number }
      stage.expect(shown === paidIn, `a balance of ${paidIn} was shown as ${shown} (${response.status})`)
      await Bun.sleep(LOOK_MS)
    }
  })()
  return {
    end() {
      isOver = true
      return reading
    },
  }
}

export const f8Disk: Fault = {
  id: 'F8d',
  world: 'single',
  title: 'Redis is killed and comes back with an empty disk',
  promise: 'As F5, then as F8.',
  async run(stage) {
    const { redis } = stage.world
    stage.tolerance.storeLost = true
    const [, folder = ''] = (await redis.admin.config('GET', 'dir')) as string[]
    await stage.traffic(12)
    await stage.inject(() => redis.kill())
    await rm(`${folder}/appendonlydir`, { recursive: true })
    await expectClosedFor(stage, SETTLE_MS)
    await stage.lift(() => redis.start())
  },
}
