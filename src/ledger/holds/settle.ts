/** Charges the real cost of requests, even if their holds had expired or were lost in Redis. */

import { type LedgerDeps, MAX_LOADS } from '@/ledger/accounts/deps'
import type { Settlement, SettleOutcome } from '@/ledger/outcomes'
import { streamedRecords } from '@/ledger/records/unsynced-records'
import { SCRIPTS, type Script } from '@/ledger/scripts/scripts'
import { holdOf, namesOf } from '@/ledger/store/account-names'
import { lateRecordId, shardOf } from '@/ledger/store/names'
import { amountText, integerOf, integerText, itemsOf, nanoOf, type ReplyItem, wordOf } from '@/ledger/store/reply'
import { storeUnavailable } from '@/ledger/store/script-runner'
import type { SentListener } from '@/ledger/store-calls'
import { factsText, RECORD_FLAGS, type RecordFlag, type UsageRecord } from '@/ledger/usage-record'
import { type Nano, nano } from '@/lib/money'

/** With `force`, a hold missing in Redis is charged from the available credit, unless already charged. */
export async function settle(
  deps: LedgerDeps,
  settlement: Settlement,
  force: boolean,
  sent?: SentListener,
): Promise<SettleOutcome> {
  const own = namesOf(settlement)
  const names = [holdOf(own, settlement.holdId), own.account, own.key, own.deadlines, own.records]
  const args = settleArguments(settlement, own.payer)
  const free = settlement.freePerHour === undefined ? [] : [String(settlement.freePerHour)]
  /** Epoch and version of the account when a lost or expired hold was found to be uncharged; empty before. */
  let searched = ''
  let script: Script = SCRIPTS.settle
  for (let load = 0; load < MAX_LOADS; load++) {
    if (script === SCRIPTS.settle && deps.budgeted.get(settlement.accountId)) {
      script = SCRIPTS.settleInBudgets
      names.push(own.budgets)
    }
    const reply = itemsOf(await deps.runner.run(script, names, [...args, searched, ...free], sent))
    const kind = wordOf(reply[0])
    if (kind === 'budgets') {
      deps.budgeted.set(settlement.accountId, true)
      continue
    }
    const isDoubtful = (kind === 'unknown_hold' && force) || kind === 'expired'
    if (!isDoubtful && kind !== 'unknown_account') {
      if (kind === 'settled' || kind === 'late') deps.noteRecord(own.shard)
      return readOutcome(reply, settlement)
    }
    searched = isDoubtful ? wordOf(reply[1]) : ''
    if (searched === '') {
      if ((await deps.restorer.account(settlement.accountId, 'load')) === 'unknown') return { kind: 'unknown_hold' }
    } else if (await isCharged(deps, settlement, kind === 'expired')) return { kind: 'already_settled' }
    // A lost hold's charge belongs to the key's member, so the key must be loaded.
    if (isDoubtful) await deps.restorer.key(settlement, 'load')
  }
  throw storeUnavailable(new Error('the account does not stay loaded'))
}

/** Whether Postgres has the settlement of a hold. Corrects a loaded account. */
export async function isBooked(
  deps: LedgerDeps,
  { accountId, holdId }: Pick<Settlement, 'accountId' | 'holdId'>,
): Promise<boolean> {
  const settled = await deps.history.settledHoldIds([holdId]).catch(() => [])
  if (settled.length === 0) return false
  await deps.restorer.account(accountId, 'correct')
  return true
}

/** The ids of the holds whose settlement is in Postgres, including late ones. */
export async function bookedHolds({ history }: Pick<LedgerDeps, 'history'>, holdIds: string[]): Promise<string[]> {
  const late = new Map(holdIds.map((holdId) => [lateRecordId(holdId), holdId]))
  const [settled, known] = await Promise.all([
    history.settledHoldIds(holdIds),
    history.knownRecordIds([...late.keys()]),
  ])
  return [...settled, ...known.flatMap((recordId) => late.get(recordId) ?? [])]
}

/** All arguments except the last two: the account's epoch and version at the search, and the number of free disconnects. */
function settleArguments(settlement: Settlement, payer: string): string[] {
  const { holdId, cost, tokens, facts } = settlement
  const numbers = `${amountText(cost, 'cost')} ${integerText(tokens, 'tokens', 0, Number.MAX_SAFE_INTEGER)}`
  return [payer, holdId, numbers, factsText(facts, holdId)]
}

/**
 * Whether a hold without a tombstone was charged. Its record is then in the stream or in Postgres, and is looked for in this order, since
 * it moves from the stream to Postgres. If it is in Postgres and the account was loaded without it, the account is corrected. A charge at
 * expiry is no full charge.
 */
async function isCharged(deps: LedgerDeps, settlement: Settlement, hasExpired: boolean): Promise<boolean> {
  const { accountId, keyId, holdId } = settlement
  for await (const record of streamedRecords(deps, shardOf(accountId)))
    if (record.holdId === holdId && !(hasExpired && record.kind === 'expire')) return true
  if (!(await isInHistory(deps, holdId, hasExpired))) return false
  await deps.restorer.account(accountId, 'rebuild')
  if (hasExpired) await deps.restorer.key({ accountId, keyId }, 'rebuild')
  return true
}

async function isInHistory(deps: LedgerDeps, holdId: string, hasExpired: boolean): Promise<boolean> {
  const { history, runner } = deps
  const recordIds = hasExpired ? [lateRecordId(holdId)] : [holdId, lateRecordId(holdId)]
  if ((await runner.guard(() => history.knownRecordIds(recordIds))).length > 0) return true
  return hasExpired && (await runner.guard(() => history.settledHoldIds([holdId]))).length > 0
}

function readOutcome(reply: ReplyItem[], settlement: Settlement): SettleOutcome {
  const kind = wordOf(reply[0]) as SettleOutcome['kind']
  if (kind !== 'settled' && kind !== 'late') return { kind }
  const { accountId, keyId, holdId, facts } = settlement
  const amount = nano(integerOf(reply[3]))
  const isLate = kind === 'late'
  const record: UsageRecord = {
    recordId: isLate ? lateRecordId(holdId) : holdId,
    holdId,
    accountId,
    keyId,
    kind: isLate ? 'late' : 'settle',
    cost: isLate ? nano(settlement.cost - amount) : chargedOf(settlement, reply),
    held: isLate ? nano(0) : amount,
    seq: integerOf(reply[1]),
    atMs: integerOf(reply[2]),
    flags: flagsOf(wordOf(reply[4])),
    facts,
  }
  return isLate ? { kind, expiredCost: amount, record } : { kind, overrun: record.cost > amount, record }
}

/** The requested cost, unless the disconnect was free. */
function chargedOf({ cost, freePerHour }: Settlement, reply: ReplyItem[]): Nano {
  return freePerHour === undefined ? cost : nanoOf(reply[5])
}

function flagsOf(text: string): RecordFlag[] {
  if (text === '') return []
  const words = text.split(',')
  return RECORD_FLAGS.filter((flag) => words.includes(flag))
}
