/** A Redis that writes no append-only file goes back to its last snapshot, however long ago that was. */
import type { Fault } from '@faults/fault'
import { HOLD_TTL_MS } from '@faults/world/world'
import { expectClosedFor } from './expect'
import { handOver, startReplica } from './replica'

/** Charges that are older are in Postgres, or still with their gateway: an older snapshot loses no more. */
const AGE_MS = 6_000
/** When it is back, every hold of then is past its deadline, also those whose charge Postgres has. */
const DOWN_MS = 2 * HOLD_TTL_MS

export const f6Snapshot: Fault = {
  id: 'F6r',
  world: 'single',
  title: `Redis keeps snapshots only (appendonly no), is killed ${AGE_MS / 1000} s after the last one, and away for twice the life of a hold`,
  promise: 'As F6.',
  async run(stage) {
    const { world } = stage
    stage.tolerance.storeLost = true
    const snapshots = await startReplica(world, { appendonly: 'no', save: '' })
    await handOver(world, snapshots)
    await stage.traffic(12)
    await snapshots.admin.save()
    await Bun.sleep(AGE_MS)
    const changes = /rdb_changes_since_last_save:(\d+)/.exec(await snapshots.admin.info('persistence'))?.[1]
    stage.note(`F6r: ${changes} changes since the snapshot were gone`)
    stage.expect(Number(changes) > 0, 'nothing was lost: the fault did not happen')
    await stage.inject(() => snapshots.kill())
    await expectClosedFor(stage, DOWN_MS)
    await stage.lift(() => snapshots.start())
    await handOver(world, await startReplica(world))
  },
}
