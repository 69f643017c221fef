/** The secret of the sandbox provider's webhooks where the environment sets none: made once and kept in the history. */
import { randomBytes } from 'node:crypto'
import type { Database } from '@/db/client'
import { sandboxDepositSecret } from '@/db/orders-schema'
import { assert } from '@/lib/assert'

const SECRET_BYTES = 32

/** The secret kept in the database, in the form `whsec_…`, which all its gateways share; the first of them makes it. */
export async function readOrCreateSandboxSecret({ db }: Database): Promise<string> {
  const [kept] = await db.select().from(sandboxDepositSecret)
  if (kept) return kept.secret
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
  await db.insert(sandboxDepositSecret).values({ id: 1, secret }).onConflictDoNothing()
  const [made] = await db.select().from(sandboxDepositSecret)
  assert(made, 'the secret was inserted, by us or by another gateway')
  return made.secret
}
