/** Batches in Postgres: creates them with all their lines or not at all, lists, cancels and deletes them, and reads their results. */
import { and, eq, ne } from 'drizzle-orm'
import { GatewayError } from '@/chat/error'
import { textArray } from '@/db/array-literal'
import { batches, batchLines } from '@/db/batch-schema'
import type { Database } from '@/db/client'
import { randomId } from '@/lib/ids'
import { MAX_NANO } from '@/lib/money'
import { SHARED } from '@/limits/shared-resources'
import { type BatchRow, fieldsOf, toBatch } from './batch-row'
import { createFiles, type Files } from './files'
import { readResults } from './results'
import { makerOf, ROW_BYTES, seenBy, usedBytes } from './scope'
import type { Batch, EndedState, LineResult, Listed, Listing, NewBatch, NewLine, Scope } from './types'

export interface Batches {
  readonly files: Files
  /** Writes the batch with all `lines`. If `lines` throws, nothing is kept and the error is thrown. Throws 403 `storage_full`. */
  create(batch: NewBatch, lines: AsyncIterable<NewLine>): Promise<Batch>
  find(scope: Scope, id: string): Promise<Batch | undefined>
  /** A page of batches, the newest first. */
  list(scope: Scope, listing: Listing & { prefix?: NewBatch['idPrefix'] }): Promise<Listed<Batch>>
  /** Cancels the waiting lines. Running lines continue to their end. Has no effect on a batch that has ended. */
  cancel(scope: Scope, id: string): Promise<Batch | undefined>
  /** Deletes a batch that ended, with its results. */
  delete(scope: Scope, id: string): Promise<'deleted' | 'running' | 'unknown'>
  /** Results of lines in these states, in the order of the batch, page by page. */
  results(batchId: string, states: readonly EndedState[]): AsyncGenerator<LineResult[]>
  /** Throws 403 `storage_full` unless the account may store `bytes` more. */
  requireRoom(accountId: string, bytes: number): Promise<void>
  /** Calls `listener` each time this process has created a batch. */
  onCreated(listener: () => void): void
}

const WINDOW_MS = 24 * 3_600_000
/** One statement writes about this many lines or bytes. */
const CHUNK_LINES = 500
const CHUNK_BYTES = 1024 * 1024
const MOST_MODELS = 10

type BatchesOptions = { database: Database; retentionDays: number; windowMs?: number }

/** Batches of one database. */
export function createBatches({ database, retentionDays, windowMs = WINDOW_MS }: BatchesOptions): Batches {
  const { db, sql } = database
  const listeners = new Set<() => void>()

  async function find(scope: Scope, id: string): Promise<Batch | undefined> {
    const [row] = await sql<BatchRow[]>`
      SELECT ${fieldsOf(sql)} FROM batches
      WHERE id = ${id} AND ${seenBy(sql, scope)} AND status <> 'validating' AND expires_at > now()`
    return row && toBatch(row)
  }

  async function requireRoom(accountId: string, bytes: number): Promise<void> {
    if ((await usedBytes(database, accountId)) + bytes > SHARED.batchStorage.perAccount) throw storageFull()
  }

  async function open({ payer, idPrefix, endpoint, inputFileId, metadata, headers, clientAddress }: NewBatch) {
    const { accountId, keyId } = payer
    const id = randomId(idPrefix)
    const nowMs = Date.now()
    await db.insert(batches).values({
      ...{ id, accountId, keyId, endpoint, inputFileId, metadata, headers, clientAddress },
      madeBy: await makerOf(database, keyId),
      models: [],
      endsAt: new Date(nowMs + windowMs),
      expiresAt: new Date(nowMs + Math.max(windowMs, retentionDays * 86_400_000)),
    })
    return id
  }

  async function writeLines(batchId: string, accountId: string, lines: AsyncIterable<NewLine>): Promise<void> {
    let chunk: (typeof batchLines.$inferInsert)[] = []
    let chunkBytes = 0
    let chunkMost = 0
    let place = 0
    const models = new Set<string>()
    const write = async () => {
      if (chunk.length === 0) return
      await requireRoom(accountId, chunkBytes)
      await db.insert(batchLines).values(chunk)
      await sql`
        UPDATE batches SET total = total + ${chunk.length}, bytes = bytes + ${chunkBytes},
          most_nano = least(most_nano + ${chunkMost}, ${MAX_NANO}), models = ${textArray([...models])}::text::text[]
        WHERE id = ${batchId}`
      chunk = []
      chunkBytes = 0
      chunkMost = 0
    }
    for await (const { customId, body, model, most } of lines) {
      chunk.push({ batchId, place: place++, customId, request: body })
      if (models.size < MOST_MODELS) models.add(model)
      chunkMost += most
      chunkBytes += Buffer.byteLength(body) + ROW_BYTES
      if (chunk.length >= CHUNK_LINES || chunkBytes >= CHUNK_BYTES) await write()
    }
    await write()
  }

  return {
    files: createFiles(database, retentionDays),
    async create(batch, lines) {
      const id = await open(batch)
      try {
        await writeLines(id, batch.payer.accountId, lines)
        // The batch's window begins now: the time for writing the lines does not count.
        await sql`UPDATE batches SET status = 'in_progress', due_at = now() WHERE id = ${id}`
      } catch (error) {
        await db.delete(batches).where(and(eq(batches.id, id), eq(batches.status, 'validating')))
        throw error
      }
      for (const listener of listeners) listener()
      const made = await find({ accountId: batch.payer.accountId }, id)
      if (!made) throw new Error('a batch that was made exists')
      return made
    },
    find,
    async list(scope, { after, before, limit, prefix }) {
      const name = after ?? before
      const isBefore = after === undefined && before !== undefined
      const direction = isBefore ? sql`ASC` : sql`DESC`
      const place = sql`(SELECT created_at, id FROM batches WHERE id = ${name ?? ''} AND ${seenBy(sql, scope)})`
      const isBeyond = name === undefined ? sql`` : sql`AND (created_at, id) ${isBefore ? sql`>` : sql`<`} ${place}`
      const isKind = prefix === undefined ? sql`` : sql`AND starts_with(id, ${`${prefix}_`})`
      const rows = await sql<BatchRow[]>`
        SELECT ${fieldsOf(sql)} FROM batches
        WHERE ${seenBy(sql, scope)} AND status <> 'validating' AND expires_at > now() ${isKind} ${isBeyond}
        ORDER BY created_at ${direction}, id ${direction} LIMIT ${limit + 1}`
      const items = rows.slice(0, limit).map(toBatch)
      return { items: isBefore ? items.reverse() : items, hasMore: rows.length > limit }
    },
    async cancel(scope, id) {
      await sql`
        UPDATE batches SET status = 'cancelling', cancelling_at = now(), due_at = now(), paused = NULL, paused_message = NULL
        WHERE id = ${id} AND ${seenBy(sql, scope)} AND status = 'in_progress'`
      const batch = await find(scope, id)
      if (batch?.status === 'cancelling') for (const listener of listeners) listener()
      return batch
    },
    async delete(scope, id) {
      const batch = await find(scope, id)
      if (!batch) return 'unknown'
      if (!batch.endedAt) return 'running'
      await db.delete(batches).where(and(eq(batches.id, id), ne(batches.status, 'in_progress')))
      return 'deleted'
    },
    results: (batchId, states) => readResults(database, batchId, states),
    requireRoom,
    onCreated: (listener) => void listeners.add(listener),
  }
}

function storageFull(): GatewayError {
  const message =
    `The files and results of batches of this account have ${SHARED.batchStorage.perAccount / 1024 ** 2} MiB, the most that is ` +
    'stored. Delete some of them.'
  return new GatewayError('forbidden', message, { code: 'storage_full' })
}
