/** The audit log: append-only, each entry containing the hash of the entry before it. */
import { asc, desc, gt, sql } from 'drizzle-orm'
import { type AuditDetails, auditEntries } from '@/db/administration-schema'
import type { Database, Transaction } from '@/db/client'
import { sha256Hex } from '@/lib/ids'

export type AuditEntry = {
  /** The person who acted; `userId` is null for the service itself, the command line and operator keys. */
  actor: { userId: string | null; email: string }
  /** The action as `noun.verb`, such as `key.create`. */
  action: string
  subject: string
  accountId: string | null
  /** Additional facts, such as values before and after. No secrets. Amounts are USD as decimal strings. */
  details: AuditDetails
  ip?: string
  requestId?: string
  /** The management key that was used. Its maker is the actor. Stored in the details. */
  managementKeyId?: string
  /** The operator key used; stored in the details. */
  operatorKeyId?: string
}

export type ChangedBy = Pick<AuditEntry, 'actor' | 'ip' | 'requestId' | 'managementKeyId' | 'operatorKeyId'>

export const OPERATOR: ChangedBy = { actor: { userId: null, email: 'operator' } }

/** Writes `entry`. Call it last in `transaction`: other writers of the log wait for its lock, and later locks could deadlock. */
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
      ...(entry.operatorKeyId !== undefined && { operatorKey: entry.operatorKeyId }),
    }),
    ip: entry.ip === undefined ? null : storable(entry.ip),
    requestId: entry.requestId === undefined ? null : storable(entry.requestId),
    previousHash: last?.hash ?? FIRST_PREVIOUS_HASH,
  }
  await transaction.insert(auditEntries).values({ ...values, hash: hashOf(values) })
}

/** `broken`: entry `seq` is the first that is missing, altered or not linked to the entry before it. */
type AuditChainState =
  | { kind: 'intact'; entries: number; headHash: string }
  | { kind: 'broken'; seq: number; fault: 'missing' | 'altered' | 'unlinked' }

/** Recomputes every hash. Entries removed from the end go unnoticed: compare `headHash` with an earlier one. */
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

/** An advisory lock id that no other code uses. */
const AUDIT_LOCK = 5_811_205
const FIRST_PREVIOUS_HASH = '0'.repeat(64)
const VERIFY_BATCH = 1000

type Row = Omit<typeof auditEntries.$inferSelect, 'hash'>

/** Hash of the entry's canonical text: a JSON array in a fixed order, details sorted by name. */
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
