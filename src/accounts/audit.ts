/** The audit log: entries can only be added, and each holds the hash of the one before it. */
import { asc, desc, gt, sql } from 'drizzle-orm'
import { type AuditDetails, auditEntries } from '@/db/administration-schema'
import type { Database, Transaction } from '@/db/client'
import { sha256Hex } from '@/lib/ids'

export type AuditEntry = {
  /** The person who did it; `userId` is null for the system itself and for the command line. */
  actor: { userId: string | null; email: string }
  /** What was done, as `noun.verb`: `key.create`. */
  action: string
  /** The id of what it was done to. */
  subject: string
  /** The account it concerns, where it concerns one. */
  accountId: string | null
  /** Facts worth keeping, such as before and after. Never secrets. Amounts as decimal texts of USD. */
  details: AuditDetails
  ip?: string
  requestId?: string
  /** The management key by which it was done, whose maker is the actor; kept among the details. */
  managementKeyId?: string
}

/** Who changes something, and from where. */
export type ChangedBy = Pick<AuditEntry, 'actor' | 'ip' | 'requestId' | 'managementKeyId'>

/** The command line, and the service itself. */
export const OPERATOR: ChangedBy = { actor: { userId: null, email: 'operator' } }

/** Writes `entry` as the last step of `transaction`: other writers wait from here on, and later locks could deadlock. */
export async function recordAudit(transaction: Transaction, entry: AuditEntry): Promise<void> {
  await transaction.execute(sql`SELECT pg_advisory_xact_lock(${AUDIT_LOCK})`)
  const [last] = await transaction
    .select({ seq: auditEntries.seq, hash: auditEntries.hash, at: auditEntries.at })
    .from(auditEntries)
    .orderBy(desc(auditEntries.seq))
    .limit(1)
  const values = {
    seq: (last?.seq ?? 0) + 1,
    at: new Date(Math.max(Date.now(), last?.at.getTime() ?? 0)),
    actorId: entry.actor.userId,
    actorEmail: storable(entry.actor.email),
    action: storable(entry.action),
    subject: storable(entry.subject),
    accountId: entry.accountId,
    details: storableDetails({
      ...entry.details,
      ...(entry.managementKeyId !== undefined && { managementKey: entry.managementKeyId }),
    }),
    ip: entry.ip === undefined ? null : storable(entry.ip),
    requestId: entry.requestId === undefined ? null : storable(entry.requestId),
    previousHash: last?.hash ?? FIRST_PREVIOUS_HASH,
  }
  await transaction.insert(auditEntries).values({ ...values, hash: hashOf(values) })
}

/** `broken`: entry `seq` is the first that is missing, altered, or not the successor of the one before it. */
type AuditChainState =
  | { kind: 'intact'; entries: number; headHash: string }
  | { kind: 'broken'; seq: number; fault: 'missing' | 'altered' | 'unlinked' }

/** Recomputes every hash. Entries cut off at the end leave a whole chain: compare `headHash` with an earlier one. */
export async function verifyAuditChain({ db }: Pick<Database, 'db'>): Promise<AuditChainState> {
  let seq = 0
  let headHash = FIRST_PREVIOUS_HASH
  for (;;) {
    const rows = await db
      .select()
      .from(auditEntries)
      .where(gt(auditEntries.seq, seq))
      .orderBy(asc(auditEntries.seq))
      .limit(VERIFY_BATCH)
    for (const row of rows) {
      if (row.seq !== seq + 1) return { kind: 'broken', seq: seq + 1, fault: 'missing' }
      if (row.hash !== hashOf(row)) return { kind: 'broken', seq: row.seq, fault: 'altered' }
      if (row.previousHash !== headHash) return { kind: 'broken', seq: row.seq, fault: 'unlinked' }
      seq = row.seq
      headHash = row.hash
    }
    if (rows.length < VERIFY_BATCH) return { kind: 'intact', entries: seq, headHash }
  }
}

/** Any number that nothing else in this database uses. */
const AUDIT_LOCK = 5_811_205
const FIRST_PREVIOUS_HASH = '0'.repeat(64)
const VERIFY_BATCH = 1000

type Row = Omit<typeof auditEntries.$inferSelect, 'hash'>

/** Of the entry's canonical text: a JSON array in a fixed order, details by name. */
function hashOf(row: Row): string {
  const names = Object.keys(row.details).sort()
  return sha256Hex(
    JSON.stringify([
      row.seq,
      row.at.toISOString(),
      row.actorId,
      row.actorEmail,
      row.action,
      row.subject,
      row.accountId,
      names.map((name) => [name, row.details[name]]),
      row.ip,
      row.requestId,
      row.previousHash,
    ]),
  )
}

function storableDetails(details: AuditDetails): AuditDetails {
  const entries = Object.entries(details).map(([name, value]) => [storable(name), storableValue(value)] as const)
  return Object.fromEntries(entries)
}

function storableValue(value: AuditDetails[string]): AuditDetails[string] {
  if (typeof value === 'string') return storable(value)
  return typeof value === 'number' && !Number.isFinite(value) ? null : value
}

const NUL = String.fromCharCode(0)

function storable(text: string): string {
  return text.toWellFormed().replaceAll(NUL, '')
}
