import { and, eq } from 'drizzle-orm'
import type { Database, Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { apiKeys } from '@/db/schema'
import { assert } from '@/lib/assert'
import { createBoundedMap } from '@/lib/bounded-map'
import { randomId } from '@/lib/ids'
import { type ChangedBy, OPERATOR, recordAudit } from './audit'
import { generateKey, hashKey, keyHint } from './key-text'

/** Returns the id of the account's playground key, and creates it if missing. Throws if the account doesn't exist. */
type PlaygroundKeyOf = (accountId: string, by?: ChangedBy) => Promise<string>

const NAME = 'Playground'
/** Maximum cached ids. The id of an account's playground key never changes. */
const CAPACITY = 10_000

/** The playground's API keys: one per account, created at first use, never shown. Any number of gateways may ask at once. */
export function createPlaygroundKeys(database: Database, service: string): PlaygroundKeyOf {
  const known = createBoundedMap<string, string>(CAPACITY)
  return async (accountId, by = OPERATOR) => {
    const remembered = known.get(accountId)
    if (remembered !== undefined) return remembered
    const keyId = (await find(database.db, accountId)) ?? (await make(database, service, accountId, by))
    known.set(accountId, keyId)
    return keyId
  }
}

async function find(db: Database['db'] | Transaction, accountId: string): Promise<string | undefined> {
  const isOwn = and(eq(apiKeys.accountId, accountId), eq(apiKeys.builtIn, 'playground'))
  return (await findRow(db, apiKeys, isOwn))?.id
}

async function make({ db }: Database, service: string, accountId: string, by: ChangedBy): Promise<string> {
  const text = generateKey(service)
  const values = { id: randomId('key'), accountId, name: NAME, keyHash: hashKey(text), ...keyHint(text) }
  return await db.transaction(async (transaction) => {
    const made = await transaction
      .insert(apiKeys)
      .values({ ...values, builtIn: 'playground' })
      .onConflictDoNothing()
      .returning({ keyId: apiKeys.id })
    if (made.length === 0) {
      const other = await find(transaction, accountId)
      assert(other, 'what stood in the way of a playground key is one')
      return other
    }
    const details = { name: NAME, builtIn: true }
    await recordAudit(transaction, { ...by, action: 'key.create', subject: values.id, accountId, details })
    return values.id
  })
}
