import { SCRIPTS } from '@/ledger/scripts/scripts'
import { shardGroups } from '@/ledger/store/all-shards'
import type { RedisClient } from '@/ledger/store/connection'
import { startEpoch } from '@/ledger/store/epoch'
import { CONSUMER_GROUP, metaName, recordsName } from '@/ledger/store/names'
import { integerOf, listOf, wordOf } from '@/ledger/store/reply'
import type { ScriptRunner } from '@/ledger/store/script-runner'

type AcknowledgeDeps = {
  redis: RedisClient
  runner: ScriptRunner
  /** Each shard's epoch, read before the first of its unacknowledged records. */
  epochs: Map<number, string | null>
}

type Entry = { shard: number; id: string }

const MAX_ENTRIES = 2_000

/** Deletes usage records from streams once they are in Postgres, one script per server. Failed shards' entries are delivered again. */
export async function takeOut(deps: AcknowledgeDeps, entries: readonly Entry[]): Promise<unknown> {
  const idsOf = new Map<number, string[]>()
  for (const { shard, id } of entries) {
    const ids = idsOf.get(shard)
    if (ids) ids.push(id)
    else idsOf.set(shard, [id])
  }
  const groups = shardGroups(deps.redis).map((group) => group.filter((shard) => idsOf.has(shard)))
  const results = await Promise.allSettled(groups.map((shards) => takeOutOf(deps, shards, idsOf)))
  return results.find((result) => result.status === 'rejected')?.reason
}

async function takeOutOf(
  deps: AcknowledgeDeps,
  shards: readonly number[],
  idsOf: ReadonlyMap<number, readonly string[]>,
): Promise<void> {
  if (shards.length === 0) return
  try {
    const names = shards.flatMap((shard) => [recordsName(shard), metaName(shard)])
    const args = shards.flatMap((shard) => listed(idsOf.get(shard) ?? []))
    const reply = listOf(await deps.runner.run(SCRIPTS.acknowledge, names, [CONSUMER_GROUP, ...args]))
    for (const [index, shard] of shards.entries()) {
      const isWhole = integerOf(reply[2 * index]) === Math.min(idsOf.get(shard)?.length ?? 0, MAX_ENTRIES)
      if (!isWhole) await doubt(deps, shard, wordOf(reply[2 * index + 1]))
    }
  } catch (error) {
    if (shards.length === 1) throw error
    const alone = await Promise.allSettled(shards.map((shard) => takeOutOf(deps, [shard], idsOf)))
    const failed = alone.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
    return
  }
  const rest = new Map(shards.map((shard) => [shard, (idsOf.get(shard) ?? []).slice(MAX_ENTRIES)]))
  const unfinished = shards.filter((shard) => rest.get(shard)?.length)
  await takeOutOf(deps, unfinished, rest)
}

function listed(ids: readonly string[]): (string | number)[] {
  const some = ids.slice(0, MAX_ENTRIES)
  return [some.length, ...some]
}

/** Call it if an entry was missing. If the epoch has changed, Redis lost it: a new one has accounts compared with Postgres again. */
async function doubt({ redis, epochs }: AcknowledgeDeps, shard: number, epoch: string): Promise<void> {
  if (epoch === (epochs.get(shard) ?? '')) return
  epochs.delete(shard)
  await startEpoch(redis, shard)
}
