/** Files of batches in Postgres: uploads, stored in parts, and files of results, which are made from the lines when they are read. */

import { batchFileParts, batchFiles } from '@/db/batch-schema'
import type { Database } from '@/db/client'
import { randomBase62 } from '@/lib/ids'
import { readResultText } from './results'
import { makerOf, ROW_BYTES, seenBy } from './scope'
import type { BatchFile, Listed, Listing, Scope } from './types'

/** Size of a part of a file: encoding it for Postgres takes about a millisecond. */
export const PART_BYTES = 256 * 1024

/** A file id in OpenAI's form. */
export function newFileId(): string {
  return `file-${randomBase62(22)}`
}

export interface Files {
  /** Creates an empty file. No caller can see it until the upload is complete. */
  open(upload: { accountId: string; keyId: string; name: string }): Promise<string>
  append(id: string, place: number, content: Uint8Array): Promise<void>
  complete(scope: Scope, id: string, name: string): Promise<BatchFile>
  discard(id: string): Promise<void>
  find(scope: Scope, id: string): Promise<BatchFile | undefined>
  /** A page of files, the newest first; with `isAscending`, the oldest first. */
  list(
    scope: Scope,
    listing: Listing & { isAscending?: boolean; purpose?: string | undefined },
  ): Promise<Listed<BatchFile>>
  /** Deletes an upload, or the results behind a file of results. Returns whether the file existed. */
  delete(scope: Scope, id: string): Promise<boolean>
  read(file: BatchFile): AsyncGenerator<Uint8Array>
}

type Row = Omit<BatchFile, 'createdAt' | 'expiresAt'> & { createdMs: number; expiresMs: number }

/** Creates access to the files of one database. A file expires after `retentionDays`. */
export function createFiles(database: Database, retentionDays: number): Files {
  const { db, sql } = database

  /** Uploads and files of results, as one table. */
  function all(scope: Scope) {
    return sql`
      SELECT id, 'batch' AS purpose, name, bytes, created_at, expires_at, NULL AS batch_id, false AS is_errors
      FROM batch_files WHERE is_whole AND expires_at > now() AND ${seenBy(sql, scope)}
      UNION ALL SELECT output_file_id, 'batch_output', id || '_output.jsonl', output_bytes, ended_at, expires_at, id, false
      FROM batches WHERE output_file_id IS NOT NULL AND expires_at > now() AND ${seenBy(sql, scope)}
      UNION ALL SELECT error_file_id, 'batch_output', id || '_error.jsonl', error_bytes, ended_at, expires_at, id, true
      FROM batches WHERE error_file_id IS NOT NULL AND expires_at > now() AND ${seenBy(sql, scope)}`
  }

  const fields = sql`id, purpose, name, bytes::bigint AS bytes, batch_id AS "batchId", is_errors AS "isErrors",
    (extract(epoch FROM created_at) * 1000)::double precision AS "createdMs",
    (extract(epoch FROM expires_at) * 1000)::double precision AS "expiresMs"`

  async function find(scope: Scope, id: string): Promise<BatchFile | undefined> {
    const [row] = await sql<Row[]>`SELECT ${fields} FROM (${all(scope)}) f WHERE id = ${id}`
    return row && toFile(row)
  }

  async function* readParts(id: string): AsyncGenerator<Uint8Array> {
    for (let place = 0; ; place++) {
      const [part] = await sql<{ content: Uint8Array }[]>`
        SELECT content FROM batch_file_parts WHERE file_id = ${id} AND place = ${place}`
      if (!part) return
      yield part.content
    }
  }

  return {
    async open({ accountId, keyId, name }) {
      const id = newFileId()
      const expiresAt = new Date(Date.now() + retentionDays * 86_400_000)
      await db.insert(batchFiles).values({ id, accountId, name, expiresAt, madeBy: await makerOf(database, keyId) })
      return id
    },
    async append(id, place, content) {
      await db.insert(batchFileParts).values({ fileId: id, place, content })
      await sql`UPDATE batch_files SET bytes = bytes + ${content.length} WHERE id = ${id}`
    },
    async complete(scope, id, name) {
      await sql`UPDATE batch_files SET is_whole = true, name = ${name} WHERE id = ${id}`
      const file = await find({ accountId: scope.accountId }, id)
      if (!file) throw new Error('a file that is whole exists')
      return file
    },
    async discard(id) {
      await sql`DELETE FROM batch_files WHERE id = ${id}`
    },
    find,
    async list(scope, { after, limit, isAscending = false, purpose }) {
      const beyond = isAscending ? sql`>` : sql`<`
      const direction = isAscending ? sql`ASC` : sql`DESC`
      const isAfter =
        after === undefined
          ? sql``
          : sql`AND (created_at, id) ${beyond} (SELECT created_at, id FROM files WHERE id = ${after})`
      const isMeant = purpose === undefined ? sql`true` : sql`purpose = ${purpose}`
      const rows = await sql<Row[]>`
        WITH files AS (${all(scope)}) SELECT ${fields} FROM files WHERE ${isMeant} ${isAfter}
        ORDER BY created_at ${direction}, id ${direction} LIMIT ${limit + 1}`
      return { items: rows.slice(0, limit).map(toFile), hasMore: rows.length > limit }
    },
    async delete(scope, id) {
      const file = await find(scope, id)
      if (!file) return false
      if (file.batchId === null) await sql`DELETE FROM batch_files WHERE id = ${id}`
      else await deleteResults(database, file.batchId, file.isErrors)
      return true
    },
    read: (file) =>
      file.batchId === null ? readParts(file.id) : readResultText(database, file.batchId, file.isErrors),
  }
}

/** Deletes the results behind a file, and with them the file. */
async function deleteResults({ sql }: Database, batchId: string, isErrors: boolean): Promise<void> {
  const states = isErrors ? sql`('errored', 'expired')` : sql`('succeeded')`
  const name = isErrors ? sql`error_file_id` : sql`output_file_id`
  const size = isErrors ? sql`error_bytes` : sql`output_bytes`
  await sql`
    WITH gone AS (
      DELETE FROM batch_lines WHERE batch_id = ${batchId} AND state IN ${states}
      RETURNING coalesce(octet_length(result), 0) + ${ROW_BYTES} AS bytes
    )
    UPDATE batches SET ${name} = NULL, ${size} = 0, bytes = bytes - (SELECT coalesce(sum(bytes), 0) FROM gone)
    WHERE id = ${batchId}`
}

function toFile({ createdMs, expiresMs, ...row }: Row): BatchFile {
  return { ...row, createdAt: new Date(createdMs), expiresAt: new Date(expiresMs) }
}
