/** Stores lines of batches in Postgres. Gateways claim lines with a lease, end each once or put it back; unrun ones end with the batch. */
import type { Fragment, Sql } from 'postgres'
import { plainArray, textArray } from '@/db/array-literal'
import type { PauseReason } from '@/db/batch-schema'
import type { Database } from '@/db/client'
import type { Payer } from '@/ledger/outcomes'
import { sha256Hex } from '@/lib/ids'
import type { Nano } from '@/lib/money'
import { SHARED } from '@/limits/shared-resources'
import { newFileId } from './files'
import { fileBytes } from './results'
import { ROW_BYTES, usedBytesOf } from './scope'

/** A batch with lines that may run now. */
export type DueBatch = {
  id: string
  payer: Payer
  endpoint: string
  headers: Record<string, string>
  clientAddress: string
  /** The batch was cancelled, or its window has ended: no further line begins. */
  isOver: boolean
  /** Whether the account's storage has no room for further results. */
  isStorageFull: boolean
}

export type ClaimedLine = {
  place: number
  request: string
  tries: number
  cleared: number
  faults: number
}

/** The end of a line; `cost` undefined: the cost is in its usage record. */
export type LineEnd = {
  state: 'succeeded' | 'errored'
  status: number
  requestId: string
  body: string
  cost: Nano | undefined
}

/**
 * The request id of a line's try, which is also the id of its hold and usage record. Every gateway computes the same id. So a charge can be
 * found by its line, and no try is charged twice.
 */
export function requestIdOfTry(batchId: string, place: number, tries: number): string {
  return `req_${sha256Hex(`${batchId}:${place}:${tries}`).slice(0, 32)}`
}

type DueRow = Omit<DueBatch, 'payer'> & { accountId: string; keyId: string; secret: number }

/** Batches with work to do, the longest-waiting first. If there may be more than `limit`, the returned ones go to the end of the queue. */
export async function dueBatches({ sql }: Database, limit: number): Promise<DueBatch[]> {
  const rows = await sql<DueRow[]>`
    SELECT b.id, b.account_id AS "accountId", b.key_id AS "keyId", k.secret_ordinal AS secret, b.endpoint, b.headers,
      b.client_address AS "clientAddress", b.status = 'cancelling' OR b.ends_at <= now() AS "isOver",
      ${usedBytesOf(sql, sql`b.account_id`)} >= ${SHARED.batchStorage.perAccount} AS "isStorageFull"
    FROM batches b JOIN api_keys k ON k.id = b.key_id
    WHERE b.status IN ('in_progress', 'cancelling') AND b.due_at <= now() ORDER BY b.due_at LIMIT ${limit}`
  if (rows.length === limit) await sql`UPDATE batches SET due_at = now() WHERE id IN ${sql(rows.map(({ id }) => id))}`
  return rows.map(({ accountId, keyId, secret, ...batch }) => ({
    ...batch,
    payer: secret === 1 ? { accountId, keyId } : { accountId, keyId, secret },
  }))
}

/** Claims up to `count` lines that wait, or whose gateway has died. If the batch is over, claims only lines that may have a cost. */
export async function claimLines(
  { sql }: Database,
  { id, isOver }: Pick<DueBatch, 'id' | 'isOver'>,
  count: number,
  leaseMs: number,
): Promise<ClaimedLine[]> {
  const hasRun = isOver ? sql`AND tries > cleared` : sql``
  return await sql<ClaimedLine[]>`
    WITH picked AS (
      SELECT place FROM batch_lines
      WHERE batch_id = ${id} AND state IN ('waiting', 'running') AND due_at <= now() ${hasRun}
      ORDER BY due_at, place LIMIT ${count} FOR UPDATE SKIP LOCKED
    )
    UPDATE batch_lines l SET state = 'running', tries = tries + 1, due_at = now() + ${leaseMs} * interval '1 millisecond'
    FROM picked WHERE l.batch_id = ${id} AND l.place = picked.place
    RETURNING l.place, l.request, l.tries, l.cleared, l.faults`
}

/** Extends the leases of lines that this process is running. */
export async function renewLeases(
  { sql }: Database,
  running: readonly { batchId: string; place: number; tries: number }[],
  leaseMs: number,
): Promise<void> {
  if (running.length === 0) return
  await sql`
    UPDATE batch_lines l SET due_at = now() + ${leaseMs} * interval '1 millisecond'
    FROM unnest(${textArray(running.map(({ batchId }) => batchId))}::text::text[],
      ${plainArray(running.map(({ place }) => place))}::text::integer[],
      ${plainArray(running.map(({ tries }) => tries))}::text::integer[]) AS r(batch_id, place, tries)
    WHERE l.batch_id = r.batch_id AND l.place = r.place AND l.tries = r.tries AND l.state = 'running'`
}

/** Whether the charge of this request is in Postgres, where {@link endLine} reads the cost if no process knows it. */
export async function isBooked({ sql }: Database, requestId: string): Promise<boolean> {
  const rows = await sql`SELECT 1 FROM usage_records WHERE event_id = ${requestId}`
  return rows.length > 0
}

/** Lets a line wait again. `cleared`: its tries up to this number cost nothing. Has no effect if another gateway has claimed the line. */
export async function putBack(
  { sql }: Database,
  batchId: string,
  { place, tries }: ClaimedLine,
  { waitMs, cleared, faults }: { waitMs: number; cleared: number; faults: number },
): Promise<void> {
  await sql`
    UPDATE batch_lines SET state = 'waiting', cleared = greatest(cleared, ${cleared}), faults = ${faults},
      due_at = now() + ${waitMs} * interval '1 millisecond'
    WHERE batch_id = ${batchId} AND place = ${place} AND tries = ${tries} AND state = 'running'`
}

/**
 * Ends a line once, with its result, and closes its batch after the last line. A charged result always counts. A free one counts only if no
 * other gateway has claimed the line since. Returns whether the result counted.
 */
export async function endLine(
  database: Database,
  batchId: string,
  { place, tries }: Pick<ClaimedLine, 'place' | 'tries'>,
  { state, status, requestId, body, cost }: LineEnd,
  isCharged: boolean,
): Promise<boolean> {
  const { sql } = database
  const isOwn = isCharged ? sql`true` : sql`tries = ${tries}`
  const booked = sql`(SELECT coalesce(sum(cost_nano), 0)::bigint FROM usage_records WHERE event_id IN (${requestId}, ${`${requestId}:late`}))`
  const paid = cost === undefined ? booked : sql`${cost}::bigint`
  const bytes = Buffer.byteLength(body)
  const [ended] = await sql<{ isLast: boolean }[]>`
    WITH due AS (
      SELECT octet_length(request) AS bytes, ${paid} AS cost FROM batch_lines
      WHERE batch_id = ${batchId} AND place = ${place} AND state IN ('waiting', 'running') AND ${isOwn} FOR UPDATE
    ), ended AS (
      UPDATE batch_lines l SET state = ${state}, request = NULL, status = ${status}, request_id = ${requestId},
        result = ${body}, cost_nano = due.cost FROM due
      WHERE l.batch_id = ${batchId} AND l.place = ${place} RETURNING due.bytes, due.cost
    )
    UPDATE batches b SET ${sql(state)} = ${sql(state)} + 1, cost_nano = cost_nano + ended.cost,
      bytes = b.bytes - ended.bytes + ${bytes}, paused = NULL, paused_message = NULL FROM ended
    WHERE b.id = ${batchId} RETURNING succeeded + errored + canceled + expired = total AS "isLast"`
  if (ended?.isLast) await closeBatch(database, batchId)
  return ended !== undefined
}

/** Ends the lines that never ran, or ran without cost, when their batch is over. Closes the batch if all lines have ended. */
export async function endUnrun(database: Database, batchId: string): Promise<void> {
  const { sql } = database
  await sql`
    WITH due AS (
      SELECT l.place, octet_length(l.request) AS bytes, b.status = 'cancelling' AS is_cancelled
      FROM batch_lines l JOIN batches b ON b.id = l.batch_id
      WHERE l.batch_id = ${batchId} AND l.state = 'waiting' AND l.tries = l.cleared
        AND (b.status = 'cancelling' OR b.ends_at <= now()) FOR UPDATE OF l
    ), ended AS (
      UPDATE batch_lines l SET state = CASE WHEN due.is_cancelled THEN 'canceled' ELSE 'expired' END, request = NULL
      FROM due WHERE l.batch_id = ${batchId} AND l.place = due.place RETURNING due.bytes, due.is_cancelled
    ), sums AS (
      SELECT count(*) FILTER (WHERE is_cancelled) AS canceled, count(*) FILTER (WHERE NOT is_cancelled) AS expired,
        coalesce(sum(bytes), 0) AS bytes FROM ended
    )
    UPDATE batches b SET canceled = b.canceled + sums.canceled, expired = b.expired + sums.expired, bytes = b.bytes - sums.bytes
    FROM sums WHERE b.id = ${batchId}`
  await closeBatch(database, batchId)
}

/** Sets a batch's final status and files once all lines have ended. Cancelled lines are in no file, as at OpenAI. */
async function closeBatch({ sql }: Database, batchId: string): Promise<void> {
  const fileOf = (isMade: Fragment) => sql`CASE WHEN endpoint <> '/v1/messages' AND ${isMade} THEN ${newFileId()} END`
  await sql`
    WITH gone AS (
      DELETE FROM batch_lines l USING batches b
      WHERE l.batch_id = ${batchId} AND l.state = 'canceled' AND b.id = ${batchId} AND b.endpoint <> '/v1/messages'
        AND b.status = 'cancelling' AND b.succeeded + b.errored + b.canceled + b.expired = b.total RETURNING 1
    )
    UPDATE batches SET ended_at = now(), bytes = bytes - ${ROW_BYTES} * (SELECT count(*) FROM gone), paused = NULL, paused_message = NULL,
      status = CASE WHEN status = 'cancelling' THEN 'cancelled' WHEN expired > 0 THEN 'expired' ELSE 'completed' END,
      output_file_id = ${fileOf(sql`succeeded > 0`)}, error_file_id = ${fileOf(sql`errored + expired > 0`)},
      output_bytes = ${fileBytes(sql, batchId, sql`('succeeded')`)},
      error_bytes = ${fileBytes(sql, batchId, sql`('errored', 'expired')`)}
    WHERE id = ${batchId} AND status IN ('in_progress', 'cancelling')
      AND succeeded + errored + canceled + expired = total`
}

/** Delays the next lines of a batch. A pause has a reason, which the batch shows to its owner. */
export async function delayBatch(
  { sql }: Database,
  batchId: string,
  waitMs: number,
  pause?: { reason: PauseReason; message: string },
): Promise<void> {
  const told = pause ? sql`, paused = ${pause.reason}, paused_message = ${pause.message}` : sql``
  await sql`
    UPDATE batches SET due_at = greatest(due_at, now() + ${waitMs} * interval '1 millisecond') ${told}
    WHERE id = ${batchId} AND status = 'in_progress'`
}

/** Deletes up to `count` expired batches and files, and those that were never completed. Returns their number. */
export async function deleteExpired({ sql }: Database, count: number): Promise<number> {
  const batches = await deleteSome(sql, sql`batches`, sql`status = 'validating'`, count)
  return batches + (await deleteSome(sql, sql`batch_files`, sql`NOT is_whole`, count))
}

async function deleteSome(sql: Sql, table: Fragment, isUnfinished: Fragment, count: number): Promise<number> {
  const gone = await sql`
    DELETE FROM ${table} WHERE id IN (
      SELECT id FROM ${table}
      WHERE expires_at <= now() OR (${isUnfinished} AND created_at < now() - interval '1 hour')
      LIMIT ${count} FOR UPDATE SKIP LOCKED)`
  return gone.count
}
