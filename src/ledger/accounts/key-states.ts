/** API keys in Redis: their state, and the map from a key's hash to its payer. */

import { splitAddresses } from '@/ledger/address-lists'
import { parseAllowed } from '@/ledger/allowed'
import { parseSecrets } from '@/ledger/key-secrets'
import type { KeyState, KeyStatus, KeyUsage, Payer } from '@/ledger/outcomes'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import {
  keyHashName,
  keyName,
  keyOwnerText,
  loadedName,
  metaName,
  parseKeyOwner,
  payerText,
  shardOf,
} from '@/ledger/store/names'
import { integerOf, listOf, nanoOf, type ReplyItem, wordOf } from '@/ledger/store/reply'
import { storeUnavailable } from '@/ledger/store/script-runner'
import { nano } from '@/lib/money'
import { type LedgerDeps, MAX_LOADS } from './deps'
import { keyStateArguments } from './restore'

/** Reads a key, loading it if needed. Undefined if the account has no such key. */
export async function readKey(deps: LedgerDeps, payer: Payer): Promise<KeyUsage | undefined> {
  const shard = shardOf(payer.accountId)
  for (let load = 0; load < MAX_LOADS; load++) {
    const fields = listOf(await deps.runner.run(SCRIPTS.readKey, [metaName(shard), keyName(payer)], []))
    if (fields.length > 0) return keyUsage(payer, fields)
    if ((await deps.restorer.key(payer, 'load')) === 'unknown') return undefined
  }
  throw storeUnavailable(new Error('the key does not stay loaded'))
}

/** Writes a key's status and limits. */
export async function setKeyState(deps: LedgerDeps, state: KeyState): Promise<void> {
  const names = [keyName(state), loadedName(shardOf(state.accountId))]
  await deps.runner.run(SCRIPTS.setKey, names, [...keyStateArguments(state), payerText(state)])
}

/** Stores the payer of a key's hash. */
export async function rememberKeyHash(deps: LedgerDeps, keyHash: string, payer: Payer): Promise<void> {
  await deps.runner.guard(() => deps.redis.set(keyHashName(keyHash), keyOwnerText(payer)), 'key-hash')
}

/** The payer of a key's hash; undefined if unknown. */
export async function lookupKeyHash(deps: LedgerDeps, keyHash: string): Promise<Payer | undefined> {
  const text = await deps.runner.guard(() => deps.redis.get(keyHashName(keyHash)), 'key-hash')
  return text === null ? undefined : parseKeyOwner(text)
}

/** Removes a deleted key's hash. */
export async function forgetKeyHash(deps: LedgerDeps, keyHash: string): Promise<void> {
  await deps.runner.guard(() => deps.redis.del(keyHashName(keyHash)), 'key-hash')
}

function keyUsage({ accountId, keyId }: Payer, fields: ReplyItem[]): KeyUsage {
  const [requestsPerMinute, tokensPerMinute, concurrency, budget, expiresAtMs] = fields.slice(1, 6).map(optional)
  const { secrets, rest } = parseSecrets(wordOf(fields[9]))
  const { addresses: addressText, rest: allowed } = splitAddresses(rest)
  return {
    accountId,
    keyId,
    secrets,
    addressText,
    status: wordOf(fields[0]) as KeyStatus,
    requestsPerMinute: requestsPerMinute ?? null,
    tokensPerMinute: tokensPerMinute ?? null,
    concurrency: concurrency ?? null,
    monthlyBudget: budget === undefined || budget === null ? null : nano(budget),
    expiresAtMs: expiresAtMs ?? null,
    open: integerOf(fields[6]),
    held: nanoOf(fields[7]),
    spentThisMonth: nanoOf(fields[8]),
    ...parseAllowed(allowed),
    ownerId: wordOf(fields[10]) || null,
  }
}

function optional(field: ReplyItem): number | null {
  return field === '' ? null : integerOf(field)
}
