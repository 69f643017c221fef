/** A process that is killed at one step of a transfer; addresses of Redis and Postgres, both accounts, the person and the step as arguments. */
import { openFixture } from '@test/accounts/fixture'
import { moveCredit } from '@/accounts/transfers/move-credit'
import { NANO_PER_USD, nano } from '@/lib/money'

const [redisUrl = '', databaseUrl = '', fromAccountId = '', toAccountId = '', userId = '', step = ''] =
  process.argv.slice(2)
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
    if (credit.amount < 0) pass('committed')
    else pass('debited')
    const outcome = await ledger.credit(credit)
    if (credit.amount > 0) pass('credited')
    return outcome
  },
}
const by = { actor: { userId, email: 'owner@example.test' } }
await moveCredit(database, dying, { fromAccountId, toAccountId, amount: nano(4 * NANO_PER_USD), key: 'killed', by })
