/** Redis' file ends in the middle of a script's writes. */
import type { Fault } from '@faults/fault'

export const f7: Fault = {
  id: 'F7',
  world: 'single',
  title: 'Redis is killed, and its file is torn inside the last transition',
  promise: 'A transition is kept whole or not at all; then as F5.',
  async run(stage) {
    const { redis } = stage.world
    stage.tolerance.storeLost = true
    await stage.traffic(8)
    await stage.inject(() => redis.kill())
    const lost = await redis.cutFile((await redis.fileSize()) - 7)
    stage.note(`F7: ${lost.bytes} bytes were torn off`)
    await stage.lift(() => redis.start())
  },
}
