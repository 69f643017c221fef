/** The real side of the model test: two clients of one store, a history, and a handful of accounts, changed together with the model. */

import { expect } from 'bun:test'
import { addToStored, readStored } from '@test/ledger/store/stored'
import type { Payer } from '@/ledger/outcomes'
import { startEpochs } from '@/ledger/store/epoch-guard'
import {
  accountName,
  deadlinesName,
  holdMember,
  keyName,
  LEDGER_PATTERN,
  parseHoldMember,
  recordsName,
  shardOf,
} from '@/ledger/store/names'
import { parseRecordEnvelope } from '@/ledger/usage-record'
import { nano } from '@/lib/money'
import type { Bench } from './harness'
import { keyState } from './memory-history'
import { heldBy, type ModelAccount, openHolds } from './model'

export type World = {
  benches: readonly [Bench, Bench]
  accounts: Map<string, ModelAccount>
  payers: Payer[]
  /** Every hold id ever used, with its payer. */
  holdIds: { holdId: string; payer: Payer }[]
  saved: Saved | undefined
}

type Saved = { dump: Map<string, Buffer>; accounts: Map<string, ModelAccount> }

const START_CREDIT = 3_000
const KEY_LIMITS = { requestsPerMinute: 1_000, tokensPerMinute: 100_000, concurrency: 20, monthlyBudget: null }
const ACCOUNT_LIMITS = { requestsPerMinute: 1_000, tokensPerMinute: 100_000, concurrency: 30 }
const EVERY_MODEL = { allowedModels: '' }

/** Empties the store, and makes two accounts with two keys each. */
export async function createWorld(benches: readonly [Bench, Bench]): Promise<World> {
  const [bench] = benches
  await bench.redis.flushall()
  const world: World = {
    ...{ benches, accounts: new Map(), payers: [], holdIds: [] },
    saved: undefined,
  }
  for (let index = 0; index < 2; index++) {
    const first = await bench.fund(START_CREDIT, KEY_LIMITS)
    const { accountId } = first
    bench.history.setAccount(accountId, ACCOUNT_LIMITS)
    const account: ModelAccount = {
      ...ACCOUNT_LIMITS,
      ...{ requests: undefined, tokens: undefined },
      ...{ status: 'active', available: START_CREDIT, spent: 0, seq: 0, overrun: 0 },
      ...{
        credits: new Map([['start', START_CREDIT]]),
        keys: new Map(),
        holds: new Map(),
        stream: [],
        books: new Map(),
      },
    }
    world.accounts.set(accountId, account)
    for (const keyId of [first.keyId, `${first.keyId}_2`]) {
      bench.history.setKey({ accountId, keyId, ...KEY_LIMITS })
      const counters = { spent: 0, requests: undefined, tokens: undefined }
      account.keys.set(keyId, { status: 'active', ...KEY_LIMITS, ...EVERY_MODEL, ...counters })
      world.payers.push({ accountId, keyId })
      await bench.ledger.readKey({ accountId, keyId })
    }
    await bench.ledger.readBalance(accountId)
  }
  return world
}

/** What the model says of the account that pays. */
export function accountOf(world: World, payer: Payer): ModelAccount {
  const account = world.accounts.get(payer.accountId)
  if (!account) throw new Error('the model has no such account')
  return account
}

/** Lets time pass in the store: what happened becomes older, and deadlines come nearer. */
export async function advanceStore(world: World, ms: number): Promise<void> {
  const { redis } = world.benches[0]
  for (const payer of world.payers) {
    const key = await readStored(redis, 'key', keyName(payer))
    if (Number(key?.requestsAtMs) > 0) {
      await addToStored(redis, 'key', keyName(payer), { requestsAtMs: -ms, tokensAtMs: -ms })
    }
  }
  for (const accountId of world.accounts.keys()) {
    const account = await readStored(redis, 'account', accountName(accountId))
    if (Number(account?.levelsAtMs) > 0) {
      await addToStored(redis, 'account', accountName(accountId), { levelsAtMs: -ms })
    }
    const name = deadlinesName(shardOf(accountId))
    for (const member of await redis.zrange(name, '0', '-1')) {
      if (parseHoldMember(member)?.accountId === accountId) await redis.zincrby(name, -ms, member)
    }
  }
}

/** Makes one hold's deadline pass. */
export async function lapseStore(world: World, payer: Payer, holdId: string, amount: number): Promise<void> {
  const member = holdMember({ ...payer, holdId, amount })
  await world.benches[0].redis.zadd(deadlinesName(shardOf(payer.accountId)), 'XX', 1, member)
}

/** Remembers the store as it is now, as a backup or a replica would. */
export async function save(world: World): Promise<void> {
  const { redis } = world.benches[0]
  const dump = new Map<string, Buffer>()
  for (const name of await redis.keys(LEDGER_PATTERN)) {
    const value = await redis.dumpBuffer(name)
    if (value) dump.set(name, value)
  }
  world.saved = { dump, accounts: structuredClone(world.accounts) }
}

/** Brings the remembered store back, as a restart on old data does, and confirms every account and key. */
export async function rewindStore(world: World): Promise<Map<string, ModelAccount> | undefined> {
  const [bench] = world.benches
  if (!world.saved) return undefined
  await bench.redis.flushall()
  for (const [name, value] of world.saved.dump) await bench.redis.restore(name, 0, value)
  await confirm(world)
  return structuredClone(world.saved.accounts)
}

/** Starts a new epoch and uses every account and key once, so that each is compared with the history. */
export async function confirm(world: World): Promise<void> {
  const [bench] = world.benches
  await startEpochs(bench.redis, bench.deps.runner)
  for (const payer of world.payers) {
    await bench.ledger.readBalance(payer.accountId)
    await bench.ledger.readKey(payer)
  }
}

/** Sets a key's status and limits in the history and the ledger. */
export async function setKey(world: World, client: number, payer: Payer, changes: object): Promise<void> {
  const key = accountOf(world, payer).keys.get(payer.keyId)
  if (!key) return
  Object.assign(key, changes)
  const { status, requestsPerMinute, tokensPerMinute, concurrency, monthlyBudget } = key
  const allowedModels = key.allowedModels === '' ? null : key.allowedModels.split(',')
  const budget = monthlyBudget === null ? null : nano(monthlyBudget)
  const state = { status, requestsPerMinute, tokensPerMinute, concurrency, monthlyBudget: budget, allowedModels }
  world.benches[0].history.setKey({ ...payer, ...state })
  await (world.benches[client] ?? world.benches[0]).ledger.setKeyState(keyState(payer, state))
}

/** Compares everything the store says about every account with the model. */
export async function compare(world: World, client: number): Promise<void> {
  const bench = world.benches[client] ?? world.benches[0]
  const reads = [...world.accounts].map(async ([accountId, account]) => {
    const { status, available, spent, seq, stream, overrun } = account
    const held = heldBy(account)
    const keys = world.payers.filter((payer) => payer.accountId === accountId)
    const [balance, entries, stored, ...usages] = await Promise.all([
      bench.ledger.readBalance(accountId),
      bench.redis.xrange(recordsName(shardOf(accountId)), '-', '+'),
      readStored(bench.redis, 'account', accountName(accountId)),
      ...keys.map((payer) => bench.ledger.readKey(payer)),
    ])
    expect(balance).toMatchObject({ status, seq, ...amounts({ available, held, spent }) })
    const records = entries.flatMap(([, fields]) => parseRecordEnvelope(fields) ?? [])
    const own = records.filter((record) => record.accountId === accountId)
    // Holds that expire together do so in the order of their deadlines, which real milliseconds decide.
    expect(new Map(own.map((record) => [record.recordId, Number(record.cost)]))).toEqual(
      new Map(stream.map((record) => [record.recordId, record.cost])),
    )
    expect(own.map((record) => record.seq)).toEqual(stream.map((record) => record.seq))
    expect(Number(stored?.overrun)).toBe(overrun)
    expect(Number(stored?.open)).toBe(openHolds(account).length)
    for (const [index, { keyId }] of keys.entries()) {
      const key = account.keys.get(keyId)
      expect(usages[index]).toMatchObject({
        status: key?.status ?? 'active',
        allowedModels: key?.allowedModels ? key.allowedModels.split(',') : null,
        open: openHolds(account, keyId).length,
        ...amounts({ held: heldBy(account, keyId), spentThisMonth: key?.spent ?? 0 }),
      })
    }
    expect(available + overrun).toBeGreaterThanOrEqual(0)
    const credited = [...account.credits.values()].reduce((sum, amount) => sum + amount, 0)
    expect(available + held + spent).toBe(credited)
  })
  await Promise.all(reads)
}

function amounts(values: Record<string, number>): Record<string, ReturnType<typeof nano>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, nano(value)]))
}
