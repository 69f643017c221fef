/** The real side: two gateways' ledgers and settlers, one Redis, one Postgres, orders, administrators and an archive. */
import { expect } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFixture, silentLogger } from '@test/accounts/fixture'
import { createTestAccount } from '@test/accounts/test-account'
import { giveRole } from '@test/accounts/transfers/owner'
import { AMOUNTS, REVERSIBLE_DAYS, SELLER } from '@test/console/orders/fixture'
import { asGateway, freshDatabase } from '@test/support/stores'
import { OPERATOR } from '@/accounts/audit'
import { createBudgets } from '@/accounts/budgets/budgets'
import { reconcileHistory } from '@/accounts/reconcile'
import type { MoneyDeps } from '@/console/administration/approvals/request-operation'
import { restoreUsage } from '@/console/administration/usage-archive/usage-archive'
import { createSandboxProvider } from '@/console/orders/deposits/sandbox-deposit'
import { EXAMPLE_BANK } from '@/console/orders/deps'
import { createOrders } from '@/console/orders/orders'
import type { Order } from '@/console/orders/types'
import { connectDatabase } from '@/db/client'
import { createSettlementJournal, type OpenJournal } from '@/gateway/hold/settlement-journal'
import { createSettler, type Settler } from '@/gateway/hold/settler'
import { checkLedger } from '@/ledger/check/check'
import type { Payer, SettleOutcome } from '@/ledger/outcomes'
import { createRecordStreams } from '@/ledger/records/record-streams'
import { commandTimeoutOf } from '@/ledger/store/connection'
import { startEpochs } from '@/ledger/store/epoch-guard'
import { LEDGER_PATTERN } from '@/ledger/store/names'
import { createScriptRunner } from '@/ledger/store/script-runner'
import { parseUsageRecord } from '@/ledger/usage-record'
import { randomId } from '@/lib/ids'
import { type Nano, nano } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'
import { type Hot, type ModelAccount, newAccount } from './account'
import { openShop, type Sale, type Shop } from './sold'
import { letClocksTurn, StoreClock } from './store-clock'

/** Which of an hour's hang-ups are free: all, or none. */
export const FREE_PER_HOUR = { no: undefined, free: 1_000_000, charged: 0 }

/** A settlement or release that a gateway keeps, as the model is told of it again. */
export type Kept = Payer & { holdId: string; cost: number | undefined }

/**
 * A gateway's process: what it has acknowledged is sent again where the store comes back. What it has settled is in its journal,
 * which the next process on its machine takes over.
 */
type Process = {
  settler: Settler
  journal: OpenJournal
  folder: string
  kept: Kept[]
  /** The ledger's latest reply for each settlement. */
  outcomes: Map<string, SettleOutcome>
}

/** `sale` is what it was planned by; `by` is who reserved it, and ends it in one way: a repetition says the same. */
type KnownHold = {
  payer: Payer
  holdId: string
  sale: Sale
  by: Process
  end?: { cost: Nano; isHangUp: keyof typeof FREE_PER_HOUR } | 'release'
}

/** `atMs`: when the clock of the stores said so. */
type Saved = { atMs: number; dump: Map<string, Buffer>; hot: Map<string, Hot> }

/** What one sequence plays with; accounts are its own. */
export type Play = {
  clock: StoreClock
  accounts: Map<string, ModelAccount>
  /** Both accounts' first keys, then their second ones. */
  payers: Payer[]
  /** Members of both accounts. */
  members: string[]
  processes: Process[]
  holds: KnownHold[]
  /** Those that were paid. */
  orders: Order[]

  archivedBefore: string
  /** What each gateway sells now. */
  shops: Shop[]
  saved: Saved | undefined
  /** What has happened, in a word for each answer. */
  seen: string[]
  /** The owner of both accounts. */
  owner: string
  /** The two administrators of this sequence. */
  ada: string
  bob: string
}

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const ACCOUNTS = 2
/** Partitions made before the clock turns further: Postgres plans each query for all of them. */
const MONTHS_AHEAD = 2
const KEYS_PER_ACCOUNT = 2
/** Whose the keys are in the beginning, by their place among all; the other is nobody's. */
const FIRST_OWNERS = [0, 1, undefined, 0]
/** 5 USD: some of the largest requests together have more. */
const START_CREDIT = 5_000_000_000
const CLOCK = { now: () => Date.now(), monotonic: () => performance.now() }
/** Stands still: to the settlers, whatever they have sent was just now. */
const STANDING_CLOCK = { now: () => 0, monotonic: () => 0 }
const UNCOUNTED = { flagged: () => undefined, settlementFailed: () => undefined }
/** Above it, a second administrator has to agree: 50 USD. */
const APPROVAL_LIMIT = 50_000_000_000

/** What the model says of an account of this sequence. */
export function accountOf(play: Pick<Play, 'accounts'>, accountId: string): ModelAccount {
  const account = play.accounts.get(accountId)
  if (!account) throw new Error('the model has no such account')
  return account
}

export type World = Awaited<ReturnType<typeof openWorld>>

/** Opens both stores; Redis belongs to the test alone. */
export async function openWorld(redisUrl: string) {
  const endTurns = letClocksTurn()
  const address = await freshDatabase()
  const fixtures = [await openFixture(redisUrl, asGateway(address)), await openFixture(redisUrl, asGateway(address))]
  const [fixture] = fixtures as [(typeof fixtures)[0]]
  const owner = connectDatabase(`${address}?role=svc_migrator`, { maxConnections: 1, statementTimeoutMs: 0 })
  const { database, ledger, redis, history } = fixture
  const methods = { bankTransfer: EXAMPLE_BANK, deposit: createSandboxProvider(async () => [SECRET], CLOCK) }
  const ordersDeps = {
    database,
    ledger,
    clock: CLOCK,
    logger: silentLogger,
    methods,
    amounts: AMOUNTS,
    reversibleDays: REVERSIBLE_DAYS,
    seller: SELLER,
  }
  const money: MoneyDeps = { ...ordersDeps, approvalLimit: nano(APPROVAL_LIMIT) }
  const archive = { owner, redis, by: OPERATOR }
  const runner = createScriptRunner(redis, commandTimeoutOf(redis))
  const machines = await mkdtemp(join(tmpdir(), 'svc-gateway-money-'))
  async function startProcess(client: number, folder: string, kept: Kept[]): Promise<Process> {
    const own = fixtures[client]?.ledger ?? ledger
    const journal = createSettlementJournal({ folder, ledger: own, clock: STANDING_CLOCK, logger: silentLogger })
    const outcomes = new Map<string, SettleOutcome>()
    const settling: typeof own.settle = async (settlement, options, sent) => {
      const outcome = await own.settle(settlement, options, sent)
      outcomes.set(settlement.holdId, outcome)
      return outcome
    }
    const settler = createSettler({ ...own, settle: settling }, STANDING_CLOCK, silentLogger, UNCOUNTED, journal)
    settler.resend(await journal.takeOver())
    return { settler, journal, folder, kept, outcomes }
  }
  /** The processes of the sequence before. */
  let former: Process[] = []
  async function endFormer(): Promise<void> {
    for (const { journal, folder } of former) {
      await journal.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }
  async function makePartitions(clock: StoreClock): Promise<void> {
    const today = new Date(clock.now()).toISOString().slice(0, 10)
    await owner.sql`SELECT ensure_usage_partitions(${today}::text::date, ${MONTHS_AHEAD})`
  }
  return {
    ...{ fixtures, fixture, owner, money, archive, makePartitions },
    /** Kills a process and starts another on its machine, which settles again what its journal has. */
    async restartProcess(play: Play, client: number): Promise<void> {
      const { folder, journal, kept } = play.processes[client] as Process
      const left = kept.filter(({ cost }) => cost !== undefined)
      const next = await startProcess(client, folder, left)
      await journal.stop()
      play.processes[client] = next
      expect(await next.settler.drain(60_000)).toBe(0)
    },
    orders: createOrders(ordersDeps),
    budgetsOf: (client: number) => createBudgets(database, fixtures[client]?.ledger ?? ledger),
    ledgerOf: (client: number) => fixtures[client]?.ledger ?? ledger,
    async begin(): Promise<Play> {
      await endFormer()
      await redis.flushall()
      const clock = new StoreClock(redis)
      await clock.write()
      await makePartitions(clock)
      await restoreUsage(archive, '2025-01').catch(() => undefined)
      const processes = await Promise.all(
        [0, 1].map((client) => startProcess(client, join(machines, randomId('m')), [])),
      )
      former = processes
      const play: Play = {
        ...{ clock, accounts: new Map(), payers: [], processes, holds: [], orders: [] },
        ...{ archivedBefore: '', shops: [openShop(), openShop()], saved: undefined, seen: [] },
        ...{
          owner: randomId('user'),
          ada: randomId('user'),
          bob: randomId('user'),
          members: [randomId('user'), randomId('user')],
        },
      }
      for (const id of [play.owner, play.ada, play.bob, ...play.members])
        await owner.sql`INSERT INTO users (id, name, email) VALUES (${id}, 'A', ${`${id}@example.test`.toLowerCase()})`
      for (let index = 0; index < ACCOUNTS; index++) {
        const accountId = await createTestAccount(fixture)
        await giveRole(fixture, accountId, play.owner, 'owner')
        for (const member of play.members)
          await owner.sql`INSERT INTO memberships (account_id, user_id, role) VALUES (${accountId}, ${member}, 'admin')`
        const credited = { accountId, amount: nano(START_CREDIT), reference: 'start' }
        expect((await fixture.credits.addCredit(credited)).kind).toBe('credited')
        play.accounts.set(accountId, { ...newAccount(clock), credited: START_CREDIT })
      }
      for (let index = 0; index < ACCOUNTS * KEYS_PER_ACCOUNT; index++) {
        const accountId = [...play.accounts.keys()][index % ACCOUNTS] ?? ''
        const createdBy = play.members[FIRST_OWNERS[index] ?? Number.NaN]
        const key = await fixture.apiKeys.create({ accountId, name: 'key', ...(createdBy && { createdBy }) })
        if (key.kind !== 'created') throw new Error(key.kind)
        play.payers.push({ accountId, keyId: key.keyId })
        accountOf(play, accountId).budgets.owners.set(key.keyId, createdBy ?? '')
      }
      return play
    },
    renewEpochs: () => startEpochs(redis, runner),
    /** Uses every account once in a new epoch, so that each is compared with the history. */
    async confirm({ payers }: Play): Promise<void> {
      await startEpochs(redis, runner)
      for (const payer of payers) {
        await ledger.readBalance(payer.accountId)
        await ledger.readKey(payer)
      }
    },
    async save(play: Play): Promise<void> {
      const names = await redis.keys(LEDGER_PATTERN)
      const values = await Promise.all(names.map((name) => redis.dumpBuffer(name)))
      const dump = new Map(names.flatMap((name, index) => (values[index] ? [[name, values[index]] as const] : [])))
      const hot = new Map([...play.accounts].map(([id, { holds, stream }]) => [id, structuredClone({ holds, stream })]))
      play.saved = { atMs: play.clock.now(), dump, hot }
    },
    /** Brings back what was saved, or nothing at all. */
    async restore({ clock }: Play, saved: Saved | undefined): Promise<void> {
      await redis.flushall()
      await clock.write()
      await Promise.all([...(saved?.dump ?? [])].map(([name, value]) => redis.restore(name, 0, value)))
    },
    /** One round of a flusher of its own, which may die between its commit and its acknowledgement. */
    async flush({ processes }: Play, isKilled: boolean): Promise<void> {
      const streams = createRecordStreams(redis)
      // The first look notes what others have taken, the second takes it over.
      await streams.count()
      await streams.takeAbandoned(0, 1_000)
      const read = [await streams.takeAbandoned(0, 1_000), await streams.readNew(1_000, 'all')]
      const entries = read.flatMap((one) => one.entries)
      const records = entries.flatMap(({ fields }) => parseUsageRecord(fields) ?? [])
      if (records.length > 0) await writeUsageBatch(database.sql, records)
      if (isKilled) return
      for (const { journal } of processes) journal.booked(records)
      await streams.acknowledge(entries)
    },
    /** All that a full check of both stores finds, but for accounts of former sequences: their clocks stood elsewhere. */
    async violations({ accounts }: Play): Promise<object[]> {
      const store = await checkLedger({ redis, history, logger: silentLogger })
      const books = await reconcileHistory(database, 'records')
      const found = [...store.violations, ...books.violations]
      return found.filter(({ accountId }) => accountId === undefined || accounts.has(accountId))
    },
    async close(): Promise<void> {
      await endFormer()
      await rm(machines, { recursive: true, force: true })
      await owner.close()
      for (const one of fixtures) await one.close()
      endTurns()
    },
  }
}
