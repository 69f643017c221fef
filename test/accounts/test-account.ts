/** An account of a test's own. */
import { randomBase62 } from '@/lib/ids'
import type { Fixture } from './fixture'

/** Creates an account with an address that nobody has, and returns its id. */
export async function createTestAccount({ accounts }: Fixture, name = 'Test'): Promise<string> {
  const created = await accounts.create({ email: `${randomBase62(12)}@example.test`, name })
  if (created.kind !== 'created') throw new Error(created.kind)
  return created.accountId
}
