/** The demo account of a first start: a paid request and the dashboard work without any set-up. */
import type { Accounts } from '@/accounts/accounts'
import type { ApiKeys } from '@/accounts/api-keys'
import type { Credits } from '@/accounts/credits'
import { createUser } from '@/accounts/users'
import type { Database } from '@/db/client'
import { assert } from '@/lib/assert'
import { randomBase62 } from '@/lib/ids'
import { NANO_PER_USD, type Nano, nano } from '@/lib/money'

export const DEMO_CREDIT: Nano = nano(10 * NANO_PER_USD)
export const DEMO_EMAIL = 'demo@localhost.example'
const DEMO_REFERENCE = 'demo-credit'
const PASSWORD_CHARS = 16

type DemoDeps = { database: Database; accounts: Accounts; apiKeys: ApiKeys; credits: Credits }

/** `secrets` are not stored; undefined if an earlier start has shown them. */
export type DemoAccount = { accountId: string; email: string; secrets: { key: string; password: string } | undefined }

/**
 * Finds or creates the demo account with its credit, key and user. The user is created last. So without a user, no secret was shown yet,
 * and the parts that a failed start created are reused. Returns undefined if anybody except `administrator` has an account, and none is the
 * demo account. Allows one caller at a time.
 */
export async function findOrCreateDemoAccount(
  deps: DemoDeps,
  administrator: string | undefined,
): Promise<DemoAccount | undefined> {
  const { sql } = deps.database
  const [person] = await sql<{ account_id: string }[]>`SELECT account_id FROM users WHERE email = ${DEMO_EMAIL}`
  if (person) return { accountId: person.account_id, email: DEMO_EMAIL, secrets: undefined }
  const known = administrator?.toLowerCase() ?? DEMO_EMAIL
  const others = await sql`SELECT 1 FROM accounts WHERE lower(email) NOT IN (${DEMO_EMAIL}, ${known}) LIMIT 1`
  if (others.length > 0) return undefined
  return await createDemoAccount(deps)
}

async function createDemoAccount(deps: DemoDeps): Promise<DemoAccount> {
  const { accounts, apiKeys, credits, database } = deps
  await accounts.create({ email: DEMO_EMAIL, name: 'Demo' })
  const account = await accounts.findByEmail(DEMO_EMAIL)
  assert(account, 'the demo account is there once it was created')
  const { accountId } = account
  await credits.addCredit({ accountId, amount: DEMO_CREDIT, reference: DEMO_REFERENCE })
  for (const unseen of await apiKeys.list(accountId)) await apiKeys.delete(unseen.keyId)
  const key = await apiKeys.create({ accountId, name: 'demo' })
  assert(key.kind === 'created', 'the demo account vanished while its key was made')
  const password = randomBase62(PASSWORD_CHARS)
  await createUser(database, { email: DEMO_EMAIL, password, name: 'Demo', accountId })
  return { accountId, email: DEMO_EMAIL, secrets: { key: key.key, password } }
}
