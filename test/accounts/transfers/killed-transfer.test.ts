/** A process is killed at each step of a transfer: all credit is in one of the two accounts, and repeating the request moves it once. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Fixture, openFixture, silentLogger } from '@test/accounts/fixture'
import { createTestAccount } from '@test/accounts/test-account'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { createOutboxWorker } from '@/accounts/outbox'
import { reconcileHistory } from '@/accounts/reconcile'
import { moveCredit } from '@/accounts/transfers/move-credit'
import { checkLedger } from '@/ledger/check/check'
import { deadlinesName, holdMember, parseHoldMember, shardOf } from '@/ledger/store/names'
import { NANO_PER_USD, nano } from '@/lib/money'
import { newOwner, type Owner } from './owner'

const USD = NANO_PER_USD
let redis: TestServer
let databaseUrl: string
let fixture: Fixture

beforeAll(async () => {
  redis = await startRedis()
  databaseUrl = await freshDatabase()
  fixture = await openFixture(redis.url, databaseUrl)
})
afterAll(async () => {
  await fixture.close()
  await redis.stop()
})

/** At its death: what the ledger has of each account for requests, in USD, and whether the history has the transfer. */
test.each([
  ['asked', [10, 0], false],
  ['withheld', [6, 0], false],
  ['committed', [6, 0], true],
  ['debited', [6, 0], true],
  ['credited', [6, 4], true],
] as const)(
  'a process killed when the transfer is %s loses no credit, and a repeated request moves it once',
  async (step, atDeath, isRecorded) => {
    const accounts = await killAt(step)
    const { from, to, by } = accounts
    expect(await availableIn(accounts)).toEqual([...atDeath])
    await lapse(from)
    await until(async () => {
      await fixture.ledger.expireDue(100)
      return (await fixture.ledger.readBalance(from))?.held === 0
    }, 'what was withheld to be decided')
    expect((await fixture.ledger.readBalance(from))?.available).toBe(nano((isRecorded ? 6 : 10) * USD))
    const again = { fromAccountId: from, toAccountId: to, amount: nano(4 * USD), key: 'killed', by }
    const outcome = await moveCredit(fixture.database, fixture.ledger, again)
    expect(outcome.kind).toBe(isRecorded ? 'exists' : 'moved')
    const worker = createOutboxWorker(fixture.database, fixture.ledger, silentLogger)
    while ((await worker.runOnce()).moved > 0);
    expect(await availableIn(accounts)).toEqual([6, 4])
    const report = await checkLedger({ ...fixture, logger: silentLogger })
    expect([...report.violations, ...(await reconcileHistory(fixture.database, 'records')).violations]).toEqual([])
  },
)

type Accounts = { from: string; to: string; by: Owner['by'] }

/** A process that is killed at this step of moving 4 of 10 USD. */
async function killAt(step: string): Promise<Accounts> {
  const [from, to] = [await createTestAccount(fixture), await createTestAccount(fixture)]
  const { userId, by } = await newOwner(fixture, [from, to])
  await fixture.credits.addCredit({ accountId: from, amount: nano(10 * USD), reference: 'start' })
  // From here on the ledger has both, and hears of the rest.
  await fixture.ledger.readBalance(to)
  const own = [redis.url, databaseUrl, from, to, userId, step]
  const child = Bun.spawn(['bun', 'test/accounts/transfers/killed-transfer.ts', ...own], { stderr: 'pipe' })
  await child.exited
  expect(child.signalCode).toBe('SIGKILL')
  return { from, to, by }
}

/** What the ledger has of both accounts for requests, in USD. */
async function availableIn({ from, to }: Accounts): Promise<number[]> {
  const read = await Promise.all([from, to].map((accountId) => fixture.ledger.readBalance(accountId)))
  return read.map((balance) => Number(balance?.available) / USD)
}

async function lapse(accountId: string): Promise<void> {
  const name = deadlinesName(shardOf(accountId))
  for (const member of await fixture.redis.zrange(name, '0', '-1')) {
    const hold = parseHoldMember(member)
    if (hold?.accountId === accountId) await fixture.redis.zadd(name, 'XX', 1, holdMember(hold))
  }
}
