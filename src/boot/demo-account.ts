/** The demo account of a first start: a newcomer's first paid request without any set-up. */
import type { Accounts } from '@/accounts/accounts'
import type { ApiKeys } from '@/accounts/api-keys'
import type { Credits } from '@/accounts/credits'
import { assert } from '@/lib/assert'
import { NANO_PER_USD, type Nano, nano } from '@/lib/money'

/** What the demo account starts with. */
export const DEMO_CREDIT: Nano = nano(10 * NANO_PER_USD)
const DEMO_EMAIL = 'demo@localhost.example'
const DEMO_REFERENCE = 'demo-credit'

export type DemoDeps = { accounts: Accounts; apiKeys: ApiKeys; credits: Credits }

/** Creates the account, its credit and its key, and returns the key; undefined where the account exists already. */
export async function createDemoAccount(deps: DemoDeps): Promise<string | undefined> {
  const account = await deps.accounts.create({ email: DEMO_EMAIL, name: 'Demo' })
  if (account.kind !== 'created') return undefined
  await deps.credits.addCredit({ accountId: account.accountId, amount: DEMO_CREDIT, reference: DEMO_REFERENCE })
  const key = await deps.apiKeys.create({ accountId: account.accountId, name: 'demo' })
  assert(key.kind === 'created', 'the demo account vanished while its key was made')
  return key.key
}
