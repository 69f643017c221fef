/** Redis loses everything, under traffic or with its disk. */
import { rm } from 'node:fs/promises'
import { type Fault, seenDuring } from '@faults/fault'
import { expectClosed } from './expect'

/** What one emptying may cost requests that are under way in this very moment. */
const SETTLE_MS = 1_500

export const f8: Fault = {
  id: 'F8',
  world: 'single',
  isQuick: true,
  title: 'Redis is emptied under load (FLUSHALL)',
  promise:
    'Accounts are rebuilt from Postgres on their next use, before they pay for anything; open answers end well and are charged.',
  async run(stage) {
    stage.tolerance.storeLost = true
    await stage.traffic(12)
    await stage.inject(() => stage.world.redis.admin.flushall())
    await Bun.sleep(SETTLE_MS)
    const bad = seenDuring(stage).filter(({ ending }) => ending !== 'complete')
    stage.expect(bad.length === 0, `${bad.length} requests ended ${bad[0]?.ending} (${bad[0]?.status})`)
    await stage.lift(() => undefined)
  },
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
    await Bun.sleep(SETTLE_MS)
    expectClosed(stage)
    await stage.lift(() => redis.start())
  },
}
