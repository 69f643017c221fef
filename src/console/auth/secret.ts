/** The secret that signs cookies and encrypts second factors: given by the environment, or made once and kept in the history. */

import { signInSecret } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import { assert } from '@/lib/assert'
import { randomBase62 } from '@/lib/ids'
import type { Secrets } from '@/lib/secrets'

/** 258 bits. */
const SECRET_LENGTH = 43

/** The secrets of the environment, or the one stored in the database. */
export async function secretsOf(given: Secrets | undefined, database: Database): Promise<Secrets> {
  return given ?? [await readOrCreateSecret(database)]
}

/** The secret kept in the database, which all its gateways share; the first of them makes it. */
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
