/** Slots of a Redis Cluster move from node to node under load. */
import { type Fault, seenDuring } from '@faults/fault'
import { shardOf } from '@/ledger/store/names'

const CLIENTS = 12

export const f11: Fault = {
  id: 'F11',
  world: 'cluster',
  title: 'the shards of all active accounts move to another node of the Redis Cluster under load, and back',
  promise: 'Nobody sees anything.',
  async run(stage) {
    const { cluster } = stage.world
    await stage.traffic(CLIENTS)
    const active = new Set(stage.sightings.map(({ sighting }) => shardOf(sighting.accountId)))
    const masters = cluster.nodes.slice(0, 3)
    await stage.inject(async () => {
      for (const shard of active) {
        const owner = await cluster.ownerOf(shard)
        const others = masters.filter((node) => node.id !== owner.id)
        await cluster.moveShard(shard, stage.random.pick(others))
        await cluster.moveShard(shard, owner)
      }
    })
    stage.note(`F11: ${active.size} shards moved twice`)
    const bad = seenDuring(stage).filter(({ ending }) => ending !== 'complete')
    stage.expect(bad.length === 0, `${bad.length} requests ended ${bad[0]?.ending} (${bad[0]?.status})`)
    await stage.lift(() => undefined)
  },
}
