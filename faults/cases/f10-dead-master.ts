/** One master of a Redis Cluster dies: one that nobody replaces, and one whose replica takes over. */
import { type Fault, type Stage, seenDuring } from '@faults/fault'
import type { Customer } from '@faults/world/bank'
import type { ClusterWorld } from '@faults/world/world'
import { shardOf } from '@/ledger/store/names'
import { expectUnavailable } from './expect'

const CLIENTS = 15
const DEAD_MS = 3_000
/** The cluster's node timeout, and what its nodes need to agree. */
const TAKEOVER_MS = 6_000

export const f10: Fault = {
  id: 'F10',
  world: 'cluster',
  title: 'a master of a Redis Cluster is killed, without a replica, and started again',
  promise: 'Accounts of its shards get 503 with retry-after; all others notice nothing.',
  async run(stage) {
    const { cluster } = stage.world
    const doomed = cluster.nodes[1]
    if (!doomed) return
    const lost = await shardsOf(stage, doomed.id)
    const probe = await customerOn(stage, lost)
    await stage.traffic(CLIENTS)
    await stage.inject(() => doomed.server.kill())
    await Bun.sleep(DEAD_MS)
    const seen = seenDuring(stage)
    const isLost = ({ accountId }: { accountId: string }) => lost.has(shardOf(accountId))
    expectUnavailable(
      stage,
      seen.filter((sighting) => isLost(sighting) && sighting.ending === 'refused'),
    )
    stage.expect(
      seen.some((sighting) => isLost(sighting) && sighting.ending === 'refused'),
      'nobody was refused',
    )
    const hurt = seen.filter((sighting) => !isLost(sighting) && sighting.ending !== 'complete')
    stage.expect(
      hurt.length === 0,
      `${hurt.length} requests of other shards ended ${hurt[0]?.ending} (${hurt[0]?.status})`,
    )
    await stage.lift(() => doomed.restart(), probe)
  },
}

export const f10Replica: Fault = {
  id: 'F10r',
  world: 'cluster',
  title: 'a master of a Redis Cluster is killed and its replica takes over',
  promise: `As F10, until the replica has taken over, in less than ${TAKEOVER_MS / 1000} s; no charge of a lost tail is lost.`,
  async run(stage) {
    const { cluster } = stage.world
    const doomed = cluster.nodes[0]
    if (!doomed) return
    stage.tolerance.storeLost = true
    stage.tolerance.recoveryMs = TAKEOVER_MS
    const probe = await customerOn(stage, await shardsOf(stage, doomed.id))
    await stage.traffic(CLIENTS)
    await stage.inject(() => doomed.server.kill())
    await stage.lift(() => undefined, probe)
    await doomed.restart()
  },
}

async function shardsOf({ world }: Stage<ClusterWorld>, nodeId: string): Promise<ReadonlySet<number>> {
  const shards = Array.from({ length: 64 }, (_, shard) => shard)
  const owners = await Promise.all(shards.map((shard) => world.cluster.ownerOf(shard)))
  return new Set(shards.filter((shard) => owners[shard]?.id === nodeId))
}

/** A customer whose account lies in one of these shards. */
async function customerOn(stage: Stage<ClusterWorld>, shards: ReadonlySet<number>): Promise<Customer> {
  for (;;) {
    const customer = await stage.customer()
    if (shards.has(shardOf(customer.accountId))) return customer
  }
}
