/** Every name that the ledger uses in the store. Ids are the only text in names, and are checked. */
import type { Allowed } from '@/ledger/allowed'
import { assert } from '@/lib/assert'

/**
 * The payer: account (`accountId`), API key, and the number of its secret if it is not the first. A shared key, as in the
 * playground, has no owner: then `memberId` is the acting member, and `bounds` narrows the key for them.
 */
export type Payer = {
  accountId: string
  keyId: string
  memberId?: string | undefined
  secret?: number | undefined
  bounds?: Allowed | undefined
}

/** How many ledger shards there are. */
export const SHARD_COUNT = 64
/** The layout of the store: shards, names, and how values are written. Each shard says it; a gateway starts on no other one. */
export const LAYOUT = '1'
/** The consumer group that carries usage records to the history, one per shard's stream. */
export const CONSUMER_GROUP = 'history'
/** A SCAN pattern that finds every name of every shard. */
export const LEDGER_PATTERN = '{l*}:*'

/** Stands where the key's id would, in a hold that is no request's: credit that is withheld. No key has this id. */
export const NO_KEY = '-'

const ID = /^[A-Za-z0-9_-]{1,64}$/
const KEY_HASH = /^[0-9a-f]{64}$/
const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** The shard (0 … 63) that holds everything of an account: FNV-1a of its id. Never changes for a given id. */
export function shardOf(accountId: string): number {
  let hash = FNV_OFFSET
  for (let index = 0; index < accountId.length; index++) {
    hash = Math.imul(hash ^ accountId.charCodeAt(index), FNV_PRIME)
  }
  return (hash >>> 0) % SHARD_COUNT
}

/** The shard of a name that has one. */
export function shardIn(name: string): number {
  return Number(name.slice(2, name.indexOf('}')))
}

/** Asserts that `id` may stand in a name: base62, `_` and `-`, at most 64 characters. Returns it. */
export function checkedId(id: string): string {
  assert(ID.test(id), 'an id holds a character that no id of ours has')
  return id
}

/** The shard's layout, its epoch, and the identity of its store. */
export const metaName = (shard: number): string => `{l${shard}}:meta`
/** Open holds by deadline (milliseconds since 1970). The members are made by {@link holdMember}. */
export const deadlinesName = (shard: number): string => `{l${shard}}:deadlines`
/** The stream of the shard's usage records that have not reached the history yet. */
export const recordsName = (shard: number): string => `{l${shard}}:events`
/** An account's money and status. */
export const accountName = (accountId: string): string => `{l${shardOf(accountId)}}:account:${checkedId(accountId)}`
/** An API key's status, limits, rate-limit state and what it has open. */
export const keyName = (payer: Payer): string => `{l${shardOf(payer.accountId)}}:key:${payerText(payer)}`
/** The prefix of the names of an account's holds, before the hold's id. */
export const holdPrefix = (accountId: string): string => `{l${shardOf(accountId)}}:hold:`
/** A hold: open, or the tombstone of a resolved one. */
export const holdName = (accountId: string, holdId: string): string => holdPrefix(accountId) + checkedId(holdId)
/** The loaded accounts (by id) and keys (`accountId:keyId`) of a shard, so that no search is needed. */
export const loadedName = (shard: number): string => `{l${shard}}:loaded`
/** All budgets of an account: those of itself, its members and its keys. There only where it has some. */
export const budgetsName = (accountId: string): string => `{l${shardOf(accountId)}}:budgets:${checkedId(accountId)}`
/** Ids of the ledger entries whose credit is inside the account's balance. */
export const creditedName = (accountId: string): string => `{l${shardOf(accountId)}}:credited:${checkedId(accountId)}`

/** Empty names of each type (hash, sorted set, stream, set, string) that test whether a shard can be written. */
export const probeNames = (shard: number): string[] =>
  ['hash', 'sorted-set', 'stream', 'set', 'string'].map((kind) => `{l${shard}}:probe:${kind}`)

/** A name of a family (`sig:`, or that of the shard where it is empty) in the slot of a shard, for looking whether it may be used. */
export const probeName = (shard: number, family: string): string =>
  family === '' ? `{l${shard}}:probe` : `${family}{l${shard}}:probe`

/** The owner of a key's SHA-256. Immutable, so it needs no shard. */
export function keyHashName(keyHash: string): string {
  assert(KEY_HASH.test(keyHash), 'a key hash is 64 hexadecimal characters')
  return `keyhash:${keyHash}`
}

/** `accountId:keyId`. */
export function payerText(payer: Payer): string {
  return `${checkedId(payer.accountId)}:${checkedId(payer.keyId)}`
}

/** Reads {@link payerText} back. */
export function parsePayer(text: string): Payer | undefined {
  const [accountId, keyId, ...rest] = text.split(':')
  if (accountId === undefined || keyId === undefined || rest.length > 0) return undefined
  return ID.test(accountId) && ID.test(keyId) ? { accountId, keyId } : undefined
}

/** {@link payerText}, and `:memberId` where a member acts: who a hold is of. */
export function holderText(payer: Payer): string {
  return payer.memberId ? `${payerText(payer)}:${checkedId(payer.memberId)}` : payerText(payer)
}

/** Reads {@link holderText} back. */
export function parseHolder(text: string): Payer | undefined {
  const [accountId = '', keyId = '', memberId, ...rest] = text.split(':')
  if (rest.length > 0 || ![accountId, keyId, memberId ?? keyId].every((id) => ID.test(id))) return undefined
  return memberId === undefined ? { accountId, keyId } : { accountId, keyId, memberId }
}

/** Whose the text of a key is: {@link payerText}, and the number of a secret that is not the first. */
export function keyOwnerText(payer: Payer): string {
  return payer.secret === undefined ? payerText(payer) : `${payerText(payer)}:${payer.secret}`
}

/** Reads {@link keyOwnerText} back. */
export function parseKeyOwner(text: string): Payer | undefined {
  const [, payer = '', secret] = /^([^:]*:[^:]*)(?::(\d{1,9}))?$/.exec(text) ?? []
  const found = parsePayer(payer)
  return found && secret !== undefined ? { ...found, secret: Number(secret) } : found
}

/** An open hold as its shard's deadlines name it: its holder, `holdId` and `amount`, with a colon between, so that sums need no other name. */
export type HoldMember = Payer & { holdId: string; amount: number }

/** Writes a deadlines member. */
export function holdMember(hold: HoldMember): string {
  return `${holderText(hold)}:${checkedId(hold.holdId)}:${hold.amount}`
}

/** Reads a deadlines member, or undefined if it is none of ours. */
export function parseHoldMember(text: string): HoldMember | undefined {
  const [, holder = '', holdId = '', amount] = /^(.*):([^:]*):(\d{1,16})$/.exec(text) ?? []
  const payer = parseHolder(holder)
  return payer && ID.test(holdId) ? { ...payer, holdId, amount: Number(amount) } : undefined
}

/** The name of an account, key or hold, taken apart; undefined for any other name. `ids` are account, account and key, or hold. */
export function parseName(
  name: string,
): { kind: 'account' | 'key' | 'hold'; shard: number; ids: string[] } | undefined {
  const match = /^\{l(\d{1,2})\}:(account|key|hold):([A-Za-z0-9_:-]+)$/.exec(name)
  if (!match) return undefined
  const [, shard, kind, ids = ''] = match
  return { kind: kind as 'account', shard: Number(shard), ids: ids.split(':') }
}

/** The id of the record that corrects what a hold cost when it expired; any other record of a hold has the hold's own. */
export function lateRecordId(holdId: string): string {
  return `${holdId}:late`
}
