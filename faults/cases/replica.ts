/** Replicas of the suite's Redis, for faults that let another server take its address. */
import { join } from 'node:path'
import { type RedisServer, startRedisServer } from '@faults/world/servers'
import type { SingleWorld } from '@faults/world/world'
import { until } from '@test/support/until'

let replicas = 0

/** Starts a replica of the server that has the address now, and waits until it has everything. */
export async function startReplica(
  { folder, redis }: SingleWorld,
  config: Record<string, string> = { appendfsync: 'everysec' },
): Promise<RedisServer> {
  replicas++
  const replica = await startRedisServer(join(folder, `replica-${replicas}`), config)
  await replica.admin.call('REPLICAOF', '127.0.0.1', redis.port)
  await until(async () => (await replica.admin.info('replication')).includes('master_link_status:up'), 'the replica')
  return replica
}

/** Gives the address to a replica that has everything. */
export async function handOver(world: SingleWorld, replica: RedisServer): Promise<void> {
  await replica.admin.call('REPLICAOF', 'NO', 'ONE')
  await world.failOver(replica)
}
