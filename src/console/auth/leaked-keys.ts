/**
 * Keys that somebody found in public. The finder enters the key's text; the key's people get a mail with a link that switches the key off
 * without a sign-in. The answer does not show whether the key exists, and the text is neither stored nor logged.
 */
import { and, eq, gt, isNull } from 'drizzle-orm'
import type { ChangedBy } from '@/accounts/audit'
import { hashKey, isProgramKey, isWellFormedKey } from '@/accounts/key-text'
import type { MailDesk } from '@/accounts/mails/outbox'
import { mayDo } from '@/accounts/members/permissions'
import { addressesOf, nameOf } from '@/accounts/members/tell-members'
import { ACCOUNT_ROLES } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { leakedKeys } from '@/db/management-schema'
import { randomBase62, sha256Hex } from '@/lib/ids'
import { alwaysAtLeast } from './at-least'
import { invalidLink, mailNotConfigured } from './failure'
import { keyReportsFrom, tokensFrom } from './limits'
import type { AuthParts } from './parts'
import { originOf } from './record'
import { linkFor, type Visitor } from './visitor'

const ANSWER_MS = 300
const TOKEN_LENGTH = 32
const LIFE_DAYS = 7
const DAY_MS = 86_400_000

/** The functions that switch off a leaked key: an API key, and a management key. */
type Switches = {
  deactivate(keyId: string, accountId: string, by: ChangedBy): Promise<unknown>
  revoke(managementKeyId: string, accountId: string, by: ChangedBy): Promise<unknown>
}

/**
 * Mails the people of the key with this text, once a day; does nothing if no valid key has it. `service` is the prefix of all keys' texts.
 * Throws `rate_limited` beyond 10 reports an hour from one address, or 300 from all. Throws `forbidden` if mail is not configured.
 */
export async function reportLeakedKey(
  { mails, throttle, database }: Pick<AuthParts, 'mails' | 'throttle' | 'database'>,
  visitor: Visitor,
  service: string,
  text: string,
): Promise<void> {
  if (!mails) throw mailNotConfigured('Tell its operator of the key.')
  await throttle.attempt(...keyReportsFrom(visitor.address))
  await alwaysAtLeast(ANSWER_MS, async () => {
    const isManagement = isProgramKey(text, service, 'mgmt')
    if (!isManagement && !isWellFormedKey(text, service)) return
    const key = await (isManagement ? findManagementKey : findKey)(database, hashKey(text))
    if (!key) return
    await database.db.transaction((transaction) => tell(transaction, mails, visitor, { ...key, isManagement }))
    mails.hurry()
  })
}

/** Switches off the key of a mailed link. The link works once. Throws `invalid_link`. */
export async function switchOffLeakedKey(
  { throttle, database: { db } }: Pick<AuthParts, 'throttle' | 'database'>,
  visitor: Visitor,
  token: string,
  { deactivate, revoke }: Switches,
): Promise<void> {
  await throttle.attempt(...tokensFrom(visitor.address))
  const isGood = and(
    eq(leakedKeys.tokenHash, sha256Hex(token)),
    isNull(leakedKeys.usedAt),
    gt(leakedKeys.expiresAt, new Date()),
  )
  const [found] = await db.select().from(leakedKeys).where(isGood)
  if (!found) throw invalidLink()
  const { keyId, accountId, isManagement } = found
  const by = originOf(visitor, { userId: null, email: 'link in a mail' })
  // The key is switched off first: if that fails, the link still works.
  await (isManagement ? revoke : deactivate)(keyId, accountId, by)
  await db.update(leakedKeys).set({ usedAt: new Date() }).where(isGood)
}

type FoundKey = { accountId: string; keyId: string; name: string; createdBy: string | null }

/** Finds the key by its present text, or by a former one that still works. */
async function findKey({ sql }: Database, keyHash: string): Promise<FoundKey | undefined> {
  const [key] = await sql<FoundKey[]>`
    SELECT account_id AS "accountId", id AS "keyId", name, created_by AS "createdBy" FROM api_keys k
    WHERE status = 'active' AND (expires_at IS NULL OR expires_at > now()) AND (key_hash = ${keyHash}
      OR EXISTS (SELECT FROM key_secrets s WHERE s.key_hash = ${keyHash} AND s.key_id = k.id AND s.ends_at > now()))`
  return key
}

async function findManagementKey({ sql }: Database, keyHash: string): Promise<FoundKey | undefined> {
  const [key] = await sql<FoundKey[]>`
    SELECT account_id AS "accountId", id AS "keyId", name, created_by AS "createdBy" FROM management_keys
    WHERE key_hash = ${keyHash} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`
  return key
}

/** Mails owners, admins and the key's member, who may all deactivate the key. */
async function tell(
  transaction: Transaction,
  mails: MailDesk,
  visitor: Visitor,
  { accountId, keyId, name, createdBy, isManagement }: FoundKey & { isManagement: boolean },
): Promise<void> {
  const token = randomBase62(TOKEN_LENGTH)
  const expiresAt = new Date(Date.now() + LIFE_DAYS * DAY_MS)
  const row = { tokenHash: sha256Hex(token), accountId, keyId, isManagement, expiresAt }
  const written = await transaction.insert(leakedKeys).values(row).onConflictDoNothing().returning()
  if (written.length === 0) return
  const people = await addressesOf(transaction, accountId, ACCOUNT_ROLES)
  const concerned = people.filter(({ role, userId }) => mayDo(role, 'limits.raise') || userId === createdBy)
  const facts = { accountName: await nameOf(transaction, accountId), key: name, days: LIFE_DAYS }
  for (const { email } of concerned) {
    await mails.post(transaction, email, { kind: 'key_leaked', facts }, { ...linkFor(visitor, token), accountId })
  }
}
