/** Every name that the ledger uses in Redis. Names contain no text except ids, which are checked. */
import type { Allowed } from '@/ledger/allowed'
import { assert } from '@/lib/assert'

/**
 * The payer: account (`accountId`), API key, and the number of its secret if it is not the first. A shared key, such as in the playground,
 * has no owner: then `memberId` is the acting member, and `bounds` restricts the key for them.
 */
export type Payer = {
  accountId: string
  keyId: string
  memberId?: string | undefined
  secret?: number | undefined
  bounds?: Allowed | undefined
}

export const SHARD_COUNT = 64
/** The layout of data in Redis: shards, names, values. Each shard stores it; a gateway doesn't start with another one. */
export const LAYOUT = '1'
/** The consumer group that moves usage records to Postgres, one per shard's stream. */
export const CONSUMER_GROUP = 'history'
/** A SCAN pattern for all names of all shards. */
export const LEDGER_PATTERN = '{l*}:*'

/** Replaces the key's id in a hold for withheld credit. No key has this id. */
export const NO_KEY = '-'

const ID = /^[A-Za-z0-9_-]{1,64}$/
const KEY_HASH = /^[0-9a-f]{64}$/
const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** The shard (0 … 63) of an account and all its data: FNV-1a of its id. Never changes for a given id. */
export function shardOf(accountId: string): number {
  let hash = FNV_OFFSET
  for (let index = 0; index < accountId.length; index++) {
    hash = Math.imul(hash ^ accountId.charCodeAt(index), FNV_PRIME)
  }
  return (hash >>> 0) % SHARD_COUNT
}

/** The shard number in a name such as `{l12}:meta`. */
export function shardIn(name: string): number {
  return Number(name.slice(2, name.indexOf('}')))
}

/** Asserts that `id` is valid in a name: base62, `_` and `-`, at most 64 characters. Returns it. */
export function checkedId(id: string): string {
  assert(ID.test(id), 'an id holds a character that no id of ours has')
  return id
}

export const metaName = (shard: number): string => `{l${shard}}:meta`
/** Open holds by deadline (milliseconds since 1970). The members are made by {@link holdMember}. */
export const deadlinesName = (shard: number): string => `{l${shard}}:deadlines`
/** The stream of the shard's usage records that haven't reached Postgres. */
export const recordsName = (shard: number): string => `{l${shard}}:events`
export const accountName = (accountId: string): string => `{l${shardOf(accountId)}}:account:${checkedId(accountId)}`
/** An API key's status, limits, rate-limit state and open requests. */
export const keyName = (payer: Payer): string => `{l${shardOf(payer.accountId)}}:key:${payerText(payer)}`
/** The prefix of the names of an account's holds, before the hold's id. */
export const holdPrefix = (accountId: string): string => `{l${shardOf(accountId)}}:hold:`
/** A hold: open, or the tombstone of a resolved one. */
export const holdName = (accountId: string, holdId: string): string => holdPrefix(accountId) + checkedId(holdId)
/** The loaded accounts (by id) and keys (`accountId:keyId`) of a shard, so that no search is needed. */
export const loadedName = (shard: number): string => `{l${shard}}:loaded`
/** All budgets of an account: its own, its members' and its keys'. Missing if there are none. */
export const budgetsName = (accountId: string): string => `{l${shardOf(accountId)}}:budgets:${checkedId(accountId)}`
/** Ids of the ledger entries whose credit is in the account's balance. */
export const creditedName = (accountId: string): string => `{l${shardOf(accountId)}}:credited:${checkedId(accountId)}`

/** Empty names of each type (hash, sorted set, stream, set, string) to test whether a shard can be written. */
export const probeNames = (shard: number): string[] =>
  ['hash', 'sorted-set', 'stream', 'set', 'string'].map((kind) => `{l${shard}}:probe:${kind}`)

/** A name in the shard's slot to test permissions. `family`: a prefix such as `sig:`; empty: the shard's own prefix. */
export const probeName = (shard: number, family: string): string =>
  family === '' ? `{l${shard}}:probe` : `${family}{l${shard}}:probe`

/** Stores the owner of an API key by the key's SHA-256. The value never changes, so it needs no shard. */
export function keyHashName(keyHash: string): string {
  assert(KEY_HASH.test(keyHash), 'a key hash is 64 hexadecimal characters')
  return `keyhash:${keyHash}`
}

/** `accountId:keyId`. */
export function payerText(payer: Payer): string {
  return `${checkedId(payer.accountId)}:${checkedId(payer.keyId)}`
}

/** Parses {@link payerText}. */
export function parsePayer(text: string): Payer | undefined {
  const [accountId, keyId, ...rest] = text.split(':')
  if (accountId === undefined || keyId === undefined || rest.length > 0) return undefined
  return ID.test(accountId) && ID.test(keyId) ? { accountId, keyId } : undefined
}

/** {@link payerText}, and `:memberId` if a member acts: the owner of a hold. */
export function holderText(payer: Payer): string {
  return payer.memberId ? `${payerText(payer)}:${checkedId(payer.memberId)}` : payerText(payer)
}

/** Parses {@link holderText}. */
export function parseHolder(text: string): Payer | undefined {
  const [accountId = '', keyId = '', memberId, ...rest] = text.split(':')
  if (rest.length > 0 || ![accountId, keyId, memberId ?? keyId].every((id) => ID.test(id))) return undefined
  return memberId === undefined ? { accountId, keyId } : { accountId, keyId, memberId }
}

/** The owner of an API key: {@link payerText}, and the number of a secret that isn't the first. */
export function keyOwnerText(payer: Payer): string {
  return payer.secret === undefined ? payerText(payer) : `${payerText(payer)}:${payer.secret}`
}

/** Parses {@link keyOwnerText}. */
export function parseKeyOwner(text: string): Payer | undefined {
  const [, payer = '', secret] = /^([^:]*:[^:]*)(?::(\d{1,9}))?$/.exec(text) ?? []
  const found = parsePayer(payer)
  return found && secret !== undefined ? { ...found, secret: Number(secret) } : found
}

/** An open hold in the sorted set of its shard's deadlines: holder, `holdId` and `amount`. So a sum of holds reads only this set. */
export type HoldMember = Payer & { holdId: string; amount: number }

/** Writes the name of a hold in its shard's deadlines, with colons between the parts. */
export function holdMember(hold: HoldMember): string {
  return `${holderText(hold)}:${checkedId(hold.holdId)}:${hold.amount}`
}

/** Parses {@link holdMember}. Undefined if invalid. */
export function parseHoldMember(text: string): HoldMember | undefined {
  const [, holder = '', holdId = '', amount] = /^(.*):([^:]*):(\d{1,16})$/.exec(text) ?? []
  const payer = parseHolder(holder)
  return payer && ID.test(holdId) ? { ...payer, holdId, amount: Number(amount) } : undefined
}

/** Parses the name of an account, key or hold; undefined for any other name. `ids`: of the account; account and key; or hold. */
export function parseName(
  name: string,
): { kind: 'account' | 'key' | 'hold'; shard: number; ids: string[] } | undefined {
  const match = /^\{l(\d{1,2})\}:(account|key|hold):([A-Za-z0-9_:-]+)$/.exec(name)
  if (!match) return undefined
  const [, shard, kind, ids = ''] = match
  return { kind: kind as 'account', shard: Number(shard), ids: ids.split(':') }
}

/** The id of the record that corrects the charge of an expired hold. A hold's other record has the hold's own id. */
export function lateRecordId(holdId: string): string {
  return `${holdId}:late`
}
