/** The machine of Redis loses its power: what the kernel had not written yet is gone, although it was acknowledged. */
import type { Fault } from '@faults/fault'
import type { RedisServer } from '@faults/world/servers'
import { expectClosedFor } from './expect'

type Setting = {
  id: string
  appendfsync: 'always' | 'everysec' | 'no'
  /** How much of the newest writing the setting may cost. */
  windowMs: number
  isQuick?: boolean
}

const SETTINGS: readonly Setting[] = [
  { id: 'F6', appendfsync: 'everysec', windowMs: 2_000, isQuick: true },
  { id: 'F6a', appendfsync: 'always', windowMs: 0 },
  { id: 'F6n', appendfsync: 'no', windowMs: 4_000 },
]
const SAMPLE_MS = 50
const DOWN_MS = 500

export const f6 = SETTINGS.map((setting): Fault => {
  const { id, appendfsync, windowMs, isQuick = false } = setting
  return {
    id,
    world: 'single',
    isQuick,
    title: `Redis loses power (appendfsync ${appendfsync}: the last ${windowMs / 1000} s of its file are gone)`,
    promise:
      'As F5. Gateways send again what was acknowledged in those seconds, and what reached Postgres is taken from there: no charge is lost, no credit given.',
    async run(stage) {
      const { redis } = stage.world
      stage.tolerance.storeLost = true
      await redis.admin.config('SET', 'appendfsync', appendfsync)
      const sizes = watchSize(redis)
      await stage.traffic(12)
      await Bun.sleep(windowMs)
      await stage.inject(() => redis.kill())
      const size = await redis.fileSize()
      const kept = windowMs === 0 ? size : sizes.before(performance.now() - windowMs)
      const lost = await redis.cutFile(kept)
      stage.note(`${id}: ${lost.transitions} acknowledged writes (${lost.bytes} bytes) were gone`)
      stage.expect(windowMs === 0 || lost.transitions > 0, 'nothing was lost: the fault did not happen')
      await expectClosedFor(stage, DOWN_MS)
      await stage.lift(() => redis.start())
      await redis.admin.config('SET', 'appendfsync', 'everysec')
    },
  }
})

/** Notes the file's size while Redis runs, as a stand-in for what had reached the disk by then. */
export function watchSize(redis: RedisServer): { before(atMs: number): number } {
  const samples: { atMs: number; bytes: number }[] = []
  const { pid } = redis
  void (async () => {
    while (redis.pid === pid) {
      const bytes = await redis.fileSize().catch(() => undefined)
      if (bytes !== undefined) samples.push({ atMs: performance.now(), bytes })
      await Bun.sleep(SAMPLE_MS)
    }
  })()
  return { before: (atMs) => samples.findLast((sample) => sample.atMs <= atMs)?.bytes ?? 0 }
}
