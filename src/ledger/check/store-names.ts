/** Finds the accounts, keys and holds in Redis for a check. */
import { Cluster } from 'ioredis'
import { ALL_SHARDS } from '@/ledger/store/all-shards'
import { keyPrefixOf, type RedisClient } from '@/ledger/store/connection'
import { LEDGER_PATTERN, loadedName, parseName, parsePayer, payerText, shardOf } from '@/ledger/store/names'
import type { Pace } from '@/lib/pace'
import type { Violation } from './violation'

export type StoreNames = {
  /** Key ids by account id. */
  accounts: Map<string, Set<string>>
  holds: string[]
  /** Names in the wrong shard. */
  violations: Violation[]
}

const SCAN_COUNT = 250

/** Reads the shards' lists of loaded accounts and keys. These lists have no tombstones and no misplaced names. */
export async function listNames(redis: RedisClient, pace: Pace): Promise<StoreNames> {
  const names: StoreNames = { accounts: new Map(), holds: [], violations: [] }
  for (const shard of ALL_SHARDS) {
    for await (const members of pages((cursor) => redis.sscan(loadedName(shard), cursor, 'COUNT', SCAN_COUNT))) {
      for (const member of members) noteLoaded(names, member)
      await pace()
    }
  }
  return names
}

const PATTERNS = { everything: LEDGER_PATTERN, 'accounts-and-keys': LEDGER_PATTERN.replace(/\*$/, '[ak]*') }

/** Scans all masters. Finds every name that exists during the whole scan; may miss names created meanwhile. */
export async function findNames(
  redis: RedisClient,
  pace: Pace,
  wanted: keyof typeof PATTERNS = 'everything',
): Promise<StoreNames> {
  const names: StoreNames = { accounts: new Map(), holds: [], violations: [] }
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis]
  const prefix = keyPrefixOf(redis)
  const seen = new Set<string>()
  for (const node of nodes) {
    const scan = (cursor: string) => node.scan(cursor, 'MATCH', prefix + PATTERNS[wanted], 'COUNT', SCAN_COUNT)
    for await (const found of pages(scan)) {
      for (const prefixed of found) {
        const name = prefixed.slice(prefix.length)
        if (!seen.has(name)) note(names, name)
        seen.add(name)
      }
      await pace()
    }
  }
  return names
}

/** Adds the accounts and keys that were found in Redis to their shards' lists of loaded accounts. */
export async function completeLists(redis: RedisClient, found: StoreNames, pace: Pace): Promise<void> {
  const listed = (await listNames(redis, pace)).accounts
  const misplaced = new Set(found.violations.map(({ accountId }) => accountId))
  for (const [accountId, keyIds] of found.accounts) {
    const known = listed.get(accountId)
    if (misplaced.has(accountId) || (known && keyIds.isSubsetOf(known))) continue
    const members = [...keyIds].map((keyId) => payerText({ accountId, keyId }))
    await redis.sadd(loadedName(shardOf(accountId)), accountId, ...members)
  }
}

/** All pages of a scan, until its cursor is back at the start. */
async function* pages(read: (cursor: string) => Promise<[string, string[]]>): AsyncGenerator<string[]> {
  let cursor = '0'
  do {
    const [next, found] = await read(cursor)
    yield found
    cursor = next
  } while (cursor !== '0')
}

function note(names: StoreNames, name: string): void {
  const parsed = parseName(name)
  if (!parsed) return
  const { kind, shard, ids } = parsed
  const [accountId = '', keyId] = ids
  if (kind === 'hold') {
    names.holds.push(name)
    return
  }
  if (shardOf(accountId) !== shard) names.violations.push({ kind: 'misplaced', accountId, detail: name })
  noteKey(names, accountId, keyId)
}

function noteLoaded(names: StoreNames, member: string): void {
  const payer = parsePayer(member)
  noteKey(names, payer?.accountId ?? member, payer?.keyId)
}

function noteKey(names: StoreNames, accountId: string, keyId: string | undefined): void {
  const keyIds = names.accounts.get(accountId) ?? new Set()
  if (keyId !== undefined) keyIds.add(keyId)
  names.accounts.set(accountId, keyIds)
}
