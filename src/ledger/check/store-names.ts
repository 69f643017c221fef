/** Finds every account, key and hold that the store has, for a check. */
import { Cluster, type Redis } from 'ioredis'
import type { RedisClient } from '@/ledger/store/connection'
import { LEDGER_PATTERN, parseName, shardOf } from '@/ledger/store/names'
import type { Violation } from './violation'

export type StoreNames = {
  /** Key ids by account id. */
  accounts: Map<string, string[]>
  /** Names of hold hashes, open ones and tombstones. */
  holds: string[]
  /** Names in a shard where nobody would look for them. */
  violations: Violation[]
}

const SCAN_COUNT = 1_000

/** Scans all masters. What is created meanwhile may be missed; what is there throughout is found. */
export async function findNames(redis: RedisClient): Promise<StoreNames> {
  const names: StoreNames = { accounts: new Map(), holds: [], violations: [] }
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis]
  const seen = new Set<string>()
  for (const node of nodes) {
    for await (const name of scan(node)) {
      if (!seen.has(name)) note(names, name)
      seen.add(name)
    }
  }
  return names
}

async function* scan(node: Redis): AsyncGenerator<string> {
  let cursor = '0'
  do {
    const [next, found] = await node.scan(cursor, 'MATCH', LEDGER_PATTERN, 'COUNT', SCAN_COUNT)
    yield* found
    cursor = next
  } while (cursor !== '0')
}

function note(names: StoreNames, name: string): void {
  const parsed = parseName(name)
  if (!parsed) return
  const { kind, shard, ids } = parsed
  const [accountId = '', keyId = ''] = ids
  if (kind === 'hold') {
    names.holds.push(name)
    return
  }
  if (shardOf(accountId) !== shard) names.violations.push({ kind: 'misplaced', accountId, detail: name })
  const keyIds = names.accounts.get(accountId) ?? []
  if (kind === 'key') keyIds.push(keyId)
  names.accounts.set(accountId, keyIds)
}
