/** A process that is killed at one step of a refund; addresses of Redis and Postgres, the order and the step as arguments. */
import { openFixture, silentLogger } from '@test/accounts/fixture'
import { EXAMPLE_BANK } from '@/console/orders/deps'
import { createOrders } from '@/console/orders/orders'
import { systemClock } from '@/lib/clock'
import { AMOUNTS, REVERSIBLE_DAYS, SELLER } from './fixture'

const [redisUrl = '', databaseUrl = '', orderId = '', step = ''] = process.argv.slice(2)
const { database, ledger } = await openFixture(redisUrl, databaseUrl)

/** The kernel ends us here: nothing is rolled back, closed or told any more. */
function pass(name: string): void {
  if (name === step) process.kill(process.pid, 'SIGKILL')
}

const dying: typeof ledger = {
  ...ledger,
  async withhold(withholding) {
    pass('asked')
    const outcome = await ledger.withhold(withholding)
    pass('withheld')
    return outcome
  },
  async credit(credit) {
    pass('committed')
    const outcome = await ledger.credit(credit)
    pass('applied')
    return outcome
  },
}
const methods = { bankTransfer: EXAMPLE_BANK, deposit: undefined }
const orders = createOrders({
  database,
  ledger: dying,
  clock: systemClock,
  logger: silentLogger,
  methods,
  amounts: AMOUNTS,
  reversibleDays: REVERSIBLE_DAYS,
  seller: SELLER,
})
const actor = { kind: 'system', name: 'test' } as const
await orders.refund({ orderId, amountCents: 1_990, key: 'killed', reason: 'not needed', actor })
