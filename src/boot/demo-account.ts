/** The demo account of a first start: a newcomer's first paid request, and a look at the dashboard, without any set-up. */
import type { Accounts } from '@/accounts/accounts'
import type { ApiKeys } from '@/accounts/api-keys'
import type { Credits } from '@/accounts/credits'
import { createUser } from '@/accounts/users'
import type { Database } from '@/db/client'
import { assert } from '@/lib/assert'
import { randomBase62 } from '@/lib/ids'
import { NANO_PER_USD, type Nano, nano } from '@/lib/money'

/** What the demo account starts with. */
export const DEMO_CREDIT: Nano = nano(10 * NANO_PER_USD)
/** Whose it is; nobody else can have this address. */
export const DEMO_EMAIL = 'demo@localhost.example'
const DEMO_REFERENCE = 'demo-credit'
const PASSWORD_CHARS = 16

type DemoDeps = { database: Database; accounts: Accounts; apiKeys: ApiKeys; credits: Credits }

/** The key's text and the password exist nowhere else. */
export type DemoAccount = { key: string; email: string; password: string }

/** Creates the account, its credit, its key and a person who may look at it; undefined where the account exists already. */
export async function createDemoAccount(deps: DemoDeps): Promise<DemoAccount | undefined> {
  const account = await deps.accounts.create({ email: DEMO_EMAIL, name: 'Demo' })
  if (account.kind !== 'created') return undefined
  const { accountId } = account
  await deps.credits.addCredit({ accountId, amount: DEMO_CREDIT, reference: DEMO_REFERENCE })
  const key = await deps.apiKeys.create({ accountId, name: 'demo' })
  assert(key.kind === 'created', 'the demo account vanished while its key was made')
  const password = randomBase62(PASSWORD_CHARS)
  await createUser(deps.database, { email: DEMO_EMAIL, password, name: 'Demo', accountId })
  return { key: key.key, email: DEMO_EMAIL, password }
}
