/** The ledger is the only place where balances change: by atomic scripts on one shard. A call repeated with the same id changes nothing. */

import { credit, readBalance, recentRecords, setAccountState } from '@/ledger/accounts/balances'
import { forgetKeyHash, lookupKeyHash, readKey, rememberKeyHash, setKeyState } from '@/ledger/accounts/key-states'
import { type BudgetsNow, readBudgets } from '@/ledger/accounts/read-budgets'
import { createRestorer, type RestoreMode, type Restorer } from '@/ledger/accounts/restore'
import { expireDue } from '@/ledger/holds/expire'
import { fateOf, sealFate } from '@/ledger/holds/fate'
import { renew } from '@/ledger/holds/renew'
import { refusalOf, release, reserve } from '@/ledger/holds/reserve'
import { bookedHolds, isBooked, settle } from '@/ledger/holds/settle'
import { resolveWithheld, withhold } from '@/ledger/holds/withhold'
import { countUnsynced, latestRecords } from '@/ledger/records/unsynced-records'
import { sumOverShards } from '@/ledger/store/all-shards'
import { commandTimeoutOf, type RedisClient } from '@/ledger/store/connection'
import { createEpochGuard, type EpochGuard, verifyEpoch } from '@/ledger/store/epoch-guard'
import { deadlinesName, payerText, shardOf } from '@/ledger/store/names'
import { createScriptRunner } from '@/ledger/store/script-runner'
import { createBoundedMap } from '@/lib/bounded-map'
import type { Logger } from '@/lib/logger'
import type { Nano } from '@/lib/money'
import type { LedgerDeps } from './accounts/deps'
import type {
  AccountBalance,
  AccountState,
  Credit,
  CreditOutcome,
  DefaultLimits,
  ExpiredHold,
  HoldFate,
  KeyState,
  KeyUsage,
  LedgerHistory,
  Payer,
  RecentRecord,
  Refusal,
  ReleaseOutcome,
  Renewal,
  RenewOutcome,
  ReserveOutcome,
  ReserveRequest,
  Settlement,
  SettleOutcome,
  Withheld,
  WithheldFate,
  Withholding,
  WithholdOutcome,
} from './outcomes'
import type { SentListener, StoreCallListener } from './store-calls'
import type { UsageRecord } from './usage-record'

/** Methods throw `overloaded` if Redis or Postgres is unreachable; repeating a call with the same id is safe. */
export interface Ledger {
  /** Holds credit for one request after all checks, atomically. Loads the account and key if needed. */
  reserve(request: ReserveRequest): Promise<ReserveOutcome>
  /** The refusal that a hold of this amount and one token would get now with any model; undefined if it would be accepted. */
  refusalOf(payer: Payer, amount: Nano): Promise<Refusal | undefined>
  /** Extends the holds' deadlines and stores their progress, by one Redis call per shard. Outcomes are in the order of `renewals`. */
  renew(renewals: readonly Renewal[]): Promise<RenewOutcome[]>
  /**
   * Charges a hold's real cost. Never refuses. `force` charges even if Redis has lost the hold: pass it if the reserve succeeded.
   * `isRepeat`: the hold may have been charged before. A restored Redis may have reopened it, so its account is first compared with
   * Postgres. `sent` is called when the command has been written to Redis, before the reply.
   */
  settle(
    settlement: Settlement,
    options?: { force?: boolean; isRepeat?: boolean },
    sent?: SentListener,
  ): Promise<SettleOutcome>
  /** The ids of the holds whose settlement is in Postgres. Rejects if Postgres is unreachable. */
  bookedHolds(holdIds: string[]): Promise<string[]>
  /** Whether Postgres has the settlement (false if unreachable). Corrects an account that was loaded without it. */
  isBooked(settlement: Pick<Settlement, 'accountId' | 'holdId'>): Promise<boolean>
  /** Releases a whole hold. If its id is unknown, blocks the id: a later reserve of it answers `exists`. */
  release(hold: Payer & { holdId: string }): Promise<ReleaseOutcome>
  fateOf(hold: Payer & { holdId: string }): Promise<HoldFate>
  /** The final result of a hold that no gateway uses now. If its id is unknown, blocks it, and looks for it in the records. */
  sealFate(hold: Payer & { holdId: string }): Promise<HoldFate>
  /** Expires the holds of all shards that are past their deadline, up to `limitPerShard` each. */
  expireDue(limitPerShard: number): Promise<ExpiredHold[]>
  /** Adds credit (or takes it back, if negative) once per `entryId`. */
  credit(credit: Credit): Promise<CreditOutcome>
  /**
   * Takes credit out before a negative entry is written in Postgres, so that no request can spend it meanwhile. Call it in the transaction
   * that writes the entry, while the account's row is locked. The entry's {@link credit} settles it. If the transaction failed, call {@link
   * resolveWithheld}.
   */
  withhold(withholding: Withholding): Promise<WithholdOutcome>
  /** Takes or returns the withheld amount, depending on whether Postgres has its entry. If undecided, checks again when it expires. */
  resolveWithheld(withheld: Withheld): Promise<WithheldFate>
  readBalance(accountId: string): Promise<AccountBalance | undefined>
  recentRecords(accountId: string, limit: number): Promise<RecentRecord[]>
  /** Like {@link recentRecords}, but as whole records. */
  latestRecords(accountId: string, limit: number): Promise<UsageRecord[]>
  /** A key's current state and use; undefined if the account doesn't have the key. One round trip. */
  readKey(payer: Payer): Promise<KeyUsage | undefined>
  /** Applies a key's status and limits on all gateways at once. Call it after they are in Postgres. */
  setKeyState(state: KeyState): Promise<void>
  /** Applies an account's status and limits on all gateways at once. Call it after they are in Postgres. */
  setAccountState(state: AccountState): Promise<'updated' | 'unknown_account'>
  /** Applies an account's budgets and the owners of its keys on all gateways at once. Call it after they are in Postgres. */
  reloadBudgets(accountId: string): Promise<void>
  /** The current budgets and charges of an account or one of its keys. Undefined if the account doesn't exist. */
  readBudgets(accountId: string, keyId?: string): Promise<BudgetsNow | undefined>
  /** Stores the immutable mapping from a key's SHA-256 (64 hexadecimal characters) to its account and id. */
  rememberKeyHash(keyHash: string, payer: Payer): Promise<void>
  lookupKeyHash(keyHash: string): Promise<Payer | undefined>
  forgetKeyHash(keyHash: string): Promise<void>
  /** Checks layout, shards and eviction policy at startup. Throws an error with the reason. */
  verify(): Promise<void>
  /** Calls `listener` after a reconnection or a replacement of Redis, since Redis may have lost its last seconds. */
  onStoreReturn(listener: () => void): void
  /** The time since which Redis is known to have lost no data, in milliseconds since 1970; infinity if unknown. Without I/O. */
  storeSinceMs(): number
  /** Calls `listener` with the shard of each usage record that this ledger appends, so that it is written soon. */
  onRecord(listener: (shard: number) => void): void
  openHoldCount(): Promise<number>
  /** Usage records in all shards that haven't reached Postgres. */
  unsyncedRecordCount(): Promise<number>
}

type LedgerOptions = {
  redis: RedisClient
  history: LedgerHistory
  defaultLimits: DefaultLimits
  logger: Logger
  onCall?: StoreCallListener | undefined
  noteFormerSecret?: LedgerDeps['noteFormerSecret'] | undefined
}

/** Creates the ledger over Redis and Postgres. */
export function createLedger(options: LedgerOptions): Ledger {
  const deps = createDeps(options)
  const { redis, runner } = deps
  return {
    reserve: (request) => reserve(deps, request),
    refusalOf: (payer, amount) => refusalOf(deps, payer, amount),
    renew: (renewals) => renew(deps, renewals),
    settle(settlement, { force = false, isRepeat = false } = {}, sent) {
      if (!isRepeat) return settle(deps, settlement, force, sent)
      return readBalance(deps, settlement.accountId).then(() => settle(deps, settlement, force))
    },
    bookedHolds: (holdIds) => bookedHolds(deps, holdIds),
    isBooked: (settlement) => isBooked(deps, settlement),
    release: (hold) => release(deps, hold),
    fateOf: (hold) => fateOf(deps, hold),
    sealFate: (hold) => sealFate(deps, hold),
    expireDue: (limitPerShard) => expireDue(deps, limitPerShard),
    credit: (entry) => credit(deps, entry),
    withhold: (withholding) => withhold(deps, withholding),
    resolveWithheld: (withheld) => resolveWithheld(deps, withheld),
    readBalance: (accountId) => readBalance(deps, accountId),
    recentRecords: (accountId, limit) => recentRecords(deps, accountId, limit),
    latestRecords: (accountId, limit) => latestRecords(deps, accountId, limit),
    readKey: (payer) => readKey(deps, payer),
    setKeyState: (state) => setKeyState(deps, state),
    setAccountState: (state) => setAccountState(deps, state),
    reloadBudgets: (accountId) => deps.restorer.budgets(accountId),
    readBudgets: (accountId, keyId) => readBudgets(deps, accountId, keyId),
    rememberKeyHash: (keyHash, payer) => rememberKeyHash(deps, keyHash, payer),
    lookupKeyHash: (keyHash) => lookupKeyHash(deps, keyHash),
    forgetKeyHash: (keyHash) => forgetKeyHash(deps, keyHash),
    async verify() {
      await verifyEpoch(redis, runner)
    },
    onStoreReturn: (listener) => deps.epoch.onReturn(listener),
    storeSinceMs: () => deps.epoch.sinceMs(),
    onRecord: (listener) => deps.recordListeners.add(listener),
    openHoldCount: () => sumOverShards(runner, (shard) => redis.zcard(deadlinesName(shard))),
    unsyncedRecordCount: () => countUnsynced(deps),
  }
}

/** Maximum number of accounts known to have budgets; a forgotten one costs its next request one more call. */
const MAX_BUDGETED = 20_000
/** Maximum keys whose address lists are cached. If a key's lists are not cached, a request's reserve is sent twice. */
const KEYS_WITH_ADDRESSES = 20_000

/** Creates the dependencies that the parts of the ledger share. A call has the time limit of one command of `redis`. */
export function createDeps(options: LedgerOptions): LedgerDeps & { recordListeners: Set<(shard: number) => void> } {
  const { redis, history, defaultLimits, logger, onCall, noteFormerSecret = () => undefined } = options
  const timeoutMs = commandTimeoutOf(redis)
  const epoch = createEpochGuard(redis, createScriptRunner(redis, timeoutMs, onCall), logger)
  const runner = createScriptRunner(redis, timeoutMs, onCall, epoch)
  const view = { redis, runner, history }
  const restorer = createDoubtingRestorer(createRestorer({ ...view, logger }), epoch)
  const recordListeners = new Set<(shard: number) => void>()
  function noteRecord(shard: number): void {
    for (const listener of recordListeners) listener(shard)
  }
  const budgeted = createBoundedMap<string, true>(MAX_BUDGETED)
  const addresses = createBoundedMap<string, string>(KEYS_WITH_ADDRESSES)
  const known = { budgeted, addresses }
  return { ...view, epoch, restorer, ...known, defaultLimits, logger, noteRecord, noteFormerSecret, recordListeners }
}

/** If Redis was emptied, loads only after its new epoch began: loads before it would be repeated. Calls for the same id share one load. */
function createDoubtingRestorer(restorer: Restorer, epoch: EpochGuard): Restorer {
  const once = createSharing<'loaded' | 'unknown'>()
  async function look(accountId: string): Promise<void> {
    const shard = shardOf(accountId)
    await epoch.doubt(shard)
    await epoch.ensure(shard)
  }
  async function account(accountId: string, mode: RestoreMode): Promise<'loaded' | 'unknown'> {
    await look(accountId)
    return restorer.account(accountId, mode)
  }
  return {
    account: (accountId, mode) => once(`${mode}:${accountId}`, () => account(accountId, mode)),
    key: (payer, mode) =>
      once(`${mode}:${payerText(payer)}`, async () => {
        await look(payer.accountId)
        return restorer.key(payer, mode)
      }),
    async budgets(accountId) {
      await look(accountId)
      await restorer.budgets(accountId)
    },
    payer: (payer, epochThen) =>
      once(`${epochThen}:${payerText(payer)}`, async () => {
        const { accountId } = payer
        const shard = shardOf(accountId)
        if (epochThen === '' || epochThen !== epoch.known(shard)) await look(accountId)
        const outcome = await restorer.payer(payer, epoch.known(shard) ?? '')
        return outcome === 'changed' ? account(accountId, 'load') : outcome
      }),
  }
}

/** Lets concurrent calls with the same name share one run. */
function createSharing<T>(): (name: string, work: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<T>>()
  return (name, work) => {
    const present = running.get(name)
    if (present) return present
    const fresh = work().finally(() => running.delete(name))
    running.set(name, fresh)
    return fresh
  }
}
