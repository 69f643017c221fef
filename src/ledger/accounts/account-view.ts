/**
 * Reads accounts as Redis and Postgres have them at the same moment, under traffic, for loading, rebuilding and checking. Charges move from
 * Redis to Postgres through the shard's stream, so each charge is in Postgres, in the stream, or in both. Postgres is read first and last.
 * If both readings agree, no charge arrived in between, and the stream contains exactly the charges missing in Postgres.
 */

import type { AccountSnapshot, LedgerHistory } from '@/ledger/outcomes'
import { streamedRecords } from '@/ledger/records/unsynced-records'
import { SCRIPTS } from '@/ledger/scripts/scripts'
import type { RedisClient } from '@/ledger/store/connection'
import {
  accountName,
  budgetsName,
  creditedName,
  deadlinesName,
  type HoldMember,
  keyName,
  lateRecordId,
  metaName,
  NO_KEY,
  parseHoldMember,
} from '@/ledger/store/names'
import { integerOf, listOf, nanoOf, type ReplyItem, wordOf } from '@/ledger/store/reply'
import type { ScriptRunner } from '@/ledger/store/script-runner'
import type { RecordEnvelope } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import type { Nano } from '@/lib/money'
import { readBudgets, type StoredBudgets } from './stored-budgets'

type StoredAccount = {
  available: Nano
  held: Nano
  spent: number
  seq: number
  overrun: number
  version: number
  month: number
  spentMonth: number
  open: number
}

export type StoredKey = { open: number; held: number; version: number; month: number; spentMonth: number }

export type AccountView = {
  accountId: string
  /** The account in Postgres; undefined if unknown there. */
  history: AccountSnapshot | undefined
  /** Whether the account was compared with Postgres since Redis last came back. */
  isConfirmed: boolean
  /** Undefined if the account is not loaded. */
  stored: StoredAccount | undefined
  keys: Map<string, StoredKey | undefined>
  budgets: StoredBudgets | undefined
  /** Redis' clock, milliseconds since 1970. */
  nowMs: number
  creditedIds: Set<string>
  openHolds: HoldMember[]
  /** Open holds whose charge or debit is already in Postgres: Redis lost their resolution, or never got it. */
  staleHolds: HoldMember[]
  /** Charges that are in the account's figures in Redis, but not in Postgres. */
  unsynced: RecordEnvelope[]
  /** Late charges in the stream for holds that are fully settled in Postgres. Postgres will reject these charges. */
  secondCharges: RecordEnvelope[]
  /** The highest number among the account's records in the stream, or 0. */
  lastStreamSeq: number
}

export type ViewDeps = { redis: RedisClient; runner: ScriptRunner; history: LedgerHistory }

/** Accounts to view at once. Few, because Redis blocks other clients while it answers commands sent together. */
const VIEWS_AT_ONCE = 5

/** Views accounts of one shard with the given keys. An account that changed in Postgres meanwhile is omitted: call again. */
export async function viewAccounts(
  deps: ViewDeps,
  shard: number,
  keysOf: ReadonlyMap<string, readonly string[]>,
): Promise<Map<string, AccountView>> {
  const { runner, history } = deps
  const ids = [...keysOf.keys()]
  const before = byId(await runner.guard(() => history.accounts(ids)))
  const views: StoreView[] = []
  for (let start = 0; start < ids.length; start += VIEWS_AT_ONCE) {
    const some = ids.slice(start, start + VIEWS_AT_ONCE)
    views.push(...(await Promise.all(some.map((id) => viewStore(runner, shard, id, keysOf.get(id) ?? [])))))
  }
  const records = await readStream(deps, shard, new Set(ids))
  const recordIds = views.flatMap((view) => [
    ...(records.get(view.accountId) ?? []).map((record) => record.recordId),
    ...view.openHolds.flatMap(({ holdId }) => [holdId, lateRecordId(holdId)]),
  ])
  const known = new Set(recordIds.length > 0 ? await runner.guard(() => history.knownRecordIds(recordIds)) : [])
  const lateHoldIds = [...records.values()].flatMap((own) => own.filter(isLate).map((record) => record.holdId))
  const settled = new Set(lateHoldIds.length > 0 ? await runner.guard(() => history.settledHoldIds(lateHoldIds)) : [])
  const isNew = recordIds.length === 0 && views.every((view) => !view.stored)
  const after = isNew ? before : byId(await runner.guard(() => history.accounts(ids)))
  const result = new Map<string, AccountView>()
  for (const view of views) {
    const snapshot = after.get(view.accountId)
    if (!isSame(before.get(view.accountId), snapshot)) continue
    result.set(view.accountId, combine(view, snapshot, records.get(view.accountId) ?? [], { known, settled }))
  }
  return result
}

type StoreView = Pick<
  AccountView,
  'accountId' | 'isConfirmed' | 'stored' | 'keys' | 'creditedIds' | 'openHolds' | 'budgets' | 'nowMs'
>

async function viewStore(
  runner: ScriptRunner,
  shard: number,
  accountId: string,
  keyIds: readonly string[],
): Promise<StoreView> {
  const keys = keyIds.map((keyId) => keyName({ accountId, keyId }))
  const names = [metaName(shard), accountName(accountId), creditedName(accountId), deadlinesName(shard), ...keys]
  names.push(budgetsName(accountId))
  const [confirmed, account, credited, members, perKey, nowMs, budgets] = listOf(
    await runner.run(SCRIPTS.viewAccount, names, [accountId]),
  )
  const openHolds = listOf(members).map((member) => {
    const hold = parseHoldMember(wordOf(member))
    assert(hold, 'a deadline names no hold of ours')
    return hold
  })
  const storedKeys = listOf(perKey).map((fields) => storedKey(listOf(fields)))
  return {
    accountId,
    isConfirmed: confirmed === 1,
    stored: storedAccount(listOf(account)),
    keys: new Map(keyIds.map((keyId, index) => [keyId, storedKeys[index]])),
    creditedIds: new Set(listOf(credited).map(wordOf)),
    budgets: readBudgets(listOf(budgets)),
    nowMs: integerOf(nowMs),
    openHolds,
  }
}

function storedAccount(fields: ReplyItem[]): StoredAccount | undefined {
  if (fields.length === 0) return undefined
  return {
    available: nanoOf(fields[0]),
    held: nanoOf(fields[1]),
    spent: integerOf(fields[2]),
    seq: integerOf(fields[3]),
    overrun: integerOf(fields[4]),
    version: integerOf(fields[5]),
    month: integerOf(fields[6]),
    spentMonth: integerOf(fields[7]),
    open: integerOf(fields[8]),
  }
}

function storedKey(fields: ReplyItem[]): StoredKey | undefined {
  if (fields.length === 0) return undefined
  return {
    open: integerOf(fields[0]),
    held: integerOf(fields[1]),
    version: integerOf(fields[2]),
    month: integerOf(fields[3]),
    spentMonth: integerOf(fields[4]),
  }
}

async function readStream(
  deps: ViewDeps,
  shard: number,
  accountIds: ReadonlySet<string>,
): Promise<Map<string, RecordEnvelope[]>> {
  const records = new Map<string, RecordEnvelope[]>()
  for await (const record of streamedRecords(deps, shard)) {
    if (!accountIds.has(record.accountId)) continue
    const list = records.get(record.accountId)
    if (list) list.push(record)
    else records.set(record.accountId, [record])
  }
  return records
}

function combine(
  view: StoreView,
  history: AccountSnapshot | undefined,
  records: readonly RecordEnvelope[],
  { known, settled }: { known: ReadonlySet<string>; settled: ReadonlySet<string> },
): AccountView {
  // The stream was read after the account, so records with a higher number are not in its figures.
  const seq = view.stored?.seq ?? Number.MAX_SAFE_INTEGER
  const entries = new Set(history?.creditedEntryIds)
  const isSecond = (record: RecordEnvelope) => isLate(record) && settled.has(record.holdId)
  return {
    ...view,
    history,
    staleHolds: view.openHolds.filter(({ keyId, holdId }) =>
      // A hold that expired without a charge is only charged by its late record.
      keyId === NO_KEY ? entries.has(holdId) : known.has(holdId) || known.has(lateRecordId(holdId)),
    ),
    unsynced: records.filter((record) => record.seq <= seq && !known.has(record.recordId) && !isSecond(record)),
    secondCharges: records.filter(isSecond),
    lastStreamSeq: Math.max(0, ...records.map((record) => record.seq)),
  }
}

function isLate(record: RecordEnvelope): boolean {
  return record.kind === 'late'
}

function byId(snapshots: readonly AccountSnapshot[]): Map<string, AccountSnapshot> {
  return new Map(snapshots.map((snapshot) => [snapshot.accountId, snapshot]))
}

function isSame(before: AccountSnapshot | undefined, after: AccountSnapshot | undefined): boolean {
  const facts = (snapshot: AccountSnapshot | undefined) =>
    snapshot && [snapshot.balance, snapshot.spent, snapshot.seq, snapshot.status, snapshot.creditedEntryIds.length]
  return JSON.stringify(facts(before)) === JSON.stringify(facts(after))
}
