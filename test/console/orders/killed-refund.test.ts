/** A process is killed at each step of a refund: the credit is removed exactly if the history has the refund. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Fixture, openFixture, silentLogger } from '@test/accounts/fixture'
import { createTestAccount } from '@test/accounts/test-account'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { reconcileHistory } from '@/accounts/reconcile'
import { EXAMPLE_BANK } from '@/console/orders/deps'
import { createOrders, type Orders } from '@/console/orders/orders'
import { checkLedger } from '@/ledger/check/check'
import { deadlinesName, holdMember, parseHoldMember, shardOf } from '@/ledger/store/names'
import { systemClock } from '@/lib/clock'
import { AMOUNTS, noticeOf, REVERSIBLE_DAYS, SELLER } from './fixture'

const USD = 1_000_000_000
const ROUNDS = 2
let redis: TestServer
let databaseUrl: string
let fixture: Fixture
let orders: Orders

beforeAll(async () => {
  redis = await startRedis()
  databaseUrl = await freshDatabase()
  fixture = await openFixture(redis.url, databaseUrl)
  const methods = { bankTransfer: EXAMPLE_BANK, deposit: undefined }
  orders = createOrders({
    ...fixture,
    clock: systemClock,
    logger: silentLogger,
    methods,
    amounts: AMOUNTS,
    reversibleDays: REVERSIBLE_DAYS,
    seller: SELLER,
  })
})
afterAll(async () => {
  await fixture.close()
  await redis.stop()
})

test.each([
  ['asked', false],
  ['withheld', false],
  ['committed', true],
  ['applied', true],
])(
  `a refund whose process is killed when it is %s is made once or not at all, ${ROUNDS} times`,
  async (step, isRefunded) => {
    await Promise.all(
      Array.from({ length: ROUNDS }, async () => {
        const accountId = await createTestAccount(fixture)
        const orderId = await paidOrder(accountId)
        const command = ['bun', 'test/console/orders/killed-refund.ts', redis.url, databaseUrl, orderId, step]
        const child = Bun.spawn(command, { stderr: 'pipe' })
        await child.exited
        expect(child.signalCode).toBe('SIGKILL')
        const held = step === 'withheld' || step === 'committed' ? 19.9 * USD : 0
        expect((await balanceOf(accountId)).held).toBe(held)
        await lapse(accountId)
        await until(async () => {
          await fixture.ledger.expireDue(100)
          return (await balanceOf(accountId)).held === 0
        }, 'what was withheld to be decided')
        expect((await balanceOf(accountId)).available).toBe(isRefunded ? USD / 10 : 20 * USD)
        expect(await orders.get(orderId)).toMatchObject({ refundedCents: isRefunded ? 1_990 : 0 })
      }),
    )
    const report = await checkLedger({ ...fixture, logger: silentLogger })
    expect([...report.violations, ...(await reconcileHistory(fixture.database, 'records')).violations]).toEqual([])
  },
)

/** An order of 20 USD that a bank transfer has paid. */
async function paidOrder(accountId: string): Promise<string> {
  const actor = { kind: 'system', name: 'test' } as const
  const created = await orders.create({ accountId, method: 'bank_transfer', amountCents: 2_000, actor })
  if (created.kind !== 'created') throw new Error(created.kind)
  const paid = await orders.confirmPayment(noticeOf(created.order))
  if (paid.kind !== 'credited') throw new Error(paid.kind)
  return created.order.orderId
}

async function balanceOf(accountId: string) {
  const balance = await fixture.ledger.readBalance(accountId)
  return { available: Number(balance?.available), held: Number(balance?.held) }
}

async function lapse(accountId: string): Promise<void> {
  const name = deadlinesName(shardOf(accountId))
  for (const member of await fixture.redis.zrange(name, '0', '-1')) {
    const hold = parseHoldMember(member)
    if (hold?.accountId === accountId) await fixture.redis.zadd(name, 'XX', 1, holdMember(hold))
  }
}
