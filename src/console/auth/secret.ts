/** The secret that signs cookies and encrypts second factors: from the environment, or generated once and stored in Postgres. */

import { signInSecret } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import { assert } from '@/lib/assert'
import { randomBase62 } from '@/lib/ids'
import type { Secrets } from '@/lib/secrets'

/** 43 base-62 characters have 256 bits. */
const SECRET_LENGTH = 43

/** The environment's secrets, or else the stored one. */
export async function secretsOf(given: Secrets | undefined, database: Database): Promise<Secrets> {
  return given ?? [await readOrCreateSecret(database)]
}

/** The secret stored in the database, which all gateways share. The first gateway generates it. */
export async function readOrCreateSecret({ db }: Database): Promise<string> {
  const [kept] = await db.select().from(signInSecret)
  if (kept) return kept.secret
  await db
    .insert(signInSecret)
    .values({ id: 1, secret: randomBase62(SECRET_LENGTH) })
    .onConflictDoNothing()
  const [made] = await db.select().from(signInSecret)
  assert(made, 'the secret was inserted, by us or by another gateway')
  return made.secret
}
