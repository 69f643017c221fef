/** Redis fails over to a replica that lacks the last writes, behind one address, as managed services do it. */
import { type Fault, seenDuring } from '@faults/fault'
import { expectUnavailable } from './expect'
import { handOver, startReplica } from './replica'

const TAIL_MS = 2_000
const REFUSING_MS = 1_000
/** A port where nobody listens: the link to the primary is really cut, not only slow. */
const NOWHERE = ['127.0.0.1', '1'] as const

export const f9: Fault = {
  id: 'F9',
  world: 'single',
  title: `the link to the replica is cut for ${TAIL_MS / 1000} s, then the primary dies and the replica takes its address, and later the old primary takes it back`,
  promise:
    'Refusals while nobody has the address; then accounts are compared with Postgres before they pay, each time. No charge of the lost tail is lost, nor any that the old primary missed.',
  async run(stage) {
    const { world } = stage
    stage.tolerance.storeLost = true
    const replica = await startReplica(world)
    const old = world.redis
    await stage.traffic(12)
    await replica.admin.call('REPLICAOF', ...NOWHERE)
    const before = (await world.redis.admin.info('replication')).match(/master_repl_offset:(\d+)/)?.[1]
    await Bun.sleep(TAIL_MS)
    const after = (await world.redis.admin.info('replication')).match(/master_repl_offset:(\d+)/)?.[1]
    stage.note(`F9: the replica lacked ${Number(after) - Number(before)} bytes of acknowledged writes`)
    await stage.inject(() => world.redis.kill())
    await Bun.sleep(REFUSING_MS)
    expectUnavailable(
      stage,
      seenDuring(stage).filter(({ ending }) => ending === 'refused'),
    )
    await stage.lift(() => handOver(world, replica))
    await Bun.sleep(TAIL_MS / 2)
    await stage.inject(() => old.start())
    await stage.lift(() => world.failOver(old))
  },
}

export const f9Guarded: Fault = {
  id: 'F9g',
  world: 'single',
  title: 'the only replica is lost, and the primary may not write without one (min-replicas-to-write 1)',
  promise:
    'Refusals, and nothing that a failover could lose: open answers end well and are charged when a replica is back.',
  async run(stage) {
    const { world } = stage
    const replica = await startReplica(world)
    await world.redis.admin.config('SET', 'min-replicas-to-write', '1')
    await stage.traffic(8)
    await stage.inject(() => replica.kill())
    await Bun.sleep(REFUSING_MS)
    const refused = seenDuring(stage).filter(({ ending }) => ending === 'refused')
    stage.expect(refused.length > 0, 'nobody was refused')
    expectUnavailable(stage, refused)
    await stage.lift(async () => {
      await world.redis.admin.config('SET', 'min-replicas-to-write', '0')
      await replica.stop()
    })
  },
}
