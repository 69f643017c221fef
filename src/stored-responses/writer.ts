/** Writes stored answers to Postgres in batches from a queue bounded in bytes. A stop writes the remaining queue. */
import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import { databaseFailure, describeFailure } from '@/db/failure'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'
import { SHARED } from '@/limits/shared-resources'
import type { Copies } from './copies'
import { deleteBeyond, deleteRow, deleteUnwanted, insertRows, readTotal, type StoredTotal } from './rows'
import type { NewResponse } from './stored-items'

interface Writer extends BackgroundWorker {
  hasRoom(stored: NewResponse): boolean
  push(stored: NewResponse): void
  /** Writes one answer at once; returns whether it is stored. Never rejects. */
  writeNow(stored: NewResponse): Promise<boolean>
}

type WriterDeps = {
  database: Database
  copies: Pick<Copies, 'isBuried' | 'bury'>
  /** The limits of an account; beyond them its oldest answers are deleted. */
  limits: StoredTotal
  logger: Logger
}

const MAX_QUEUE_BYTES = 64 * 1024 * 1024
const BATCH_ROWS = 100
const BATCH_BYTES = 8 * 1024 * 1024
/** Time to collect answers before a write. */
const LINGER_MS = 50
const IDLE_MS = 60_000
const RETRY_MS = 1_000
const JITTER = 0.5
const WRITE_TIMEOUT_MS = 8_000
/** Maximum time for a write at once: meanwhile, the caller waits for the end of the answer. */
const WRITE_NOW_TIMEOUT_MS = 2_000
const { perProcess: MAX_WRITES_NOW, perAccount: MAX_ACCOUNT_WRITES } = SHARED.storedWrites
const STOP_TIMEOUT_MS = 5_000
/** A full account is reduced to this share of its limit, so that not every new answer causes a deletion. */
const SHARE_LEFT = 0.9

export function createWriter({ database, copies, limits, logger }: WriterDeps): Writer {
  let queue: NewResponse[] = []
  let queueBytes = 0
  let writesNow = 0
  const writesNowOf = new Map<string, number>()

  function countNow(accountId: string, change: 1 | -1): void {
    writesNow += change
    const own = (writesNowOf.get(accountId) ?? 0) + change
    if (own > 0) writesNowOf.set(accountId, own)
    else writesNowOf.delete(accountId)
  }

  async function write(rows: readonly NewResponse[]): Promise<void> {
    const dropped = await Promise.all(rows.map((row) => dropBuried(row).catch(() => false)))
    const wanted = rows.filter((_, index) => !dropped[index])
    if (wanted.length === 0) return
    const refused = await withDatabaseDeadline(insertRows(database, wanted), WRITE_TIMEOUT_MS)
    await Promise.all(refused.map(({ accountId, id }) => copies.bury(accountId, id).catch(() => undefined)))
    await Promise.all(wanted.map(dropBuried))
    for (const accountId of new Set(wanted.map((row) => row.accountId))) await keepWithin(accountId)
  }

  /** Deletes a row if its answer was deleted while only its copy existed. Returns whether the row was deleted. */
  async function dropBuried(row: NewResponse): Promise<boolean> {
    if (!(await copies.isBuried(row))) return false
    await copies.bury(row.accountId, row.id)
    await deleteRow(database, row.accountId, row.id)
    return true
  }

  async function insertWanted(stored: NewResponse): Promise<boolean> {
    const refused = await insertRows(database, [stored])
    return refused.length === 0 && !(await deleteUnwanted(database, stored))
  }

  async function keepWithin(accountId: string): Promise<void> {
    const total = await readTotal(database, accountId)
    if (total.kept <= limits.kept && total.bytes <= limits.bytes) return
    const left = { kept: Math.floor(limits.kept * SHARE_LEFT), bytes: Math.floor(limits.bytes * SHARE_LEFT) }
    const deleted = await withDatabaseDeadline(deleteBeyond(database, accountId, left), WRITE_TIMEOUT_MS)
    logger.info('stored_responses_beyond_limit', { accountId, deleted })
  }

  function nextBatch(): NewResponse[] {
    const batch: NewResponse[] = []
    let bytes = 0
    for (const row of queue) {
      if (batch.length === BATCH_ROWS || (batch.length > 0 && bytes + row.bytes > BATCH_BYTES)) break
      batch.push(row)
      bytes += row.bytes
    }
    return batch
  }

  function drop(batch: readonly NewResponse[]): void {
    queue = queue.slice(batch.length)
    for (const { bytes } of batch) queueBytes -= bytes
  }

  async function writeOneByOne(batch: readonly NewResponse[]): Promise<void> {
    for (const row of batch) {
      try {
        await write([row])
      } catch (error) {
        if (databaseFailure(error) !== 'data') throw error
        logger.error('stored_response_lost', { accountId: row.accountId, id: row.id, reason: describeFailure(error) })
      }
    }
  }

  async function flush(): Promise<void> {
    const batch = nextBatch()
    if (batch.length === 0) return
    try {
      await write(batch)
    } catch (error) {
      if (databaseFailure(error) !== 'data') throw error
      await writeOneByOne(batch)
    }
    drop(batch)
  }

  const loop = createWorkerLoop({
    async round() {
      await flush()
      return queue.length > 0 ? 0 : IDLE_MS
    },
    onFailure(error) {
      logger.warn('stored_responses_unwritten', { reason: describeFailure(error), waiting: queue.length })
      return jittered(RETRY_MS, JITTER)
    },
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })

  return {
    hasRoom: ({ bytes }) => queueBytes + bytes <= MAX_QUEUE_BYTES,
    push(stored) {
      queue.push(stored)
      queueBytes += stored.bytes
      loop.hurry(LINGER_MS)
    },
    async writeNow(stored) {
      const { accountId } = stored
      if (writesNow >= MAX_WRITES_NOW || (writesNowOf.get(accountId) ?? 0) >= MAX_ACCOUNT_WRITES) return false
      countNow(accountId, 1)
      const writing = insertWanted(stored)
      try {
        const isThere = await withDatabaseDeadline(writing, WRITE_NOW_TIMEOUT_MS)
        if (isThere) await keepWithin(stored.accountId)
        return isThere
      } catch (error) {
        logger.warn('stored_response_unwritten', { reason: describeFailure(error) })
        // The caller gets `store: false`, so a late write is deleted again.
        void writing.then(() => deleteRow(database, stored.accountId, stored.id)).catch(() => undefined)
        return false
      } finally {
        countNow(accountId, -1)
      }
    },
    start: loop.start,
    async stop() {
      await loop.stop()
      await drainQueue()
    },
  }

  async function drainQueue(): Promise<void> {
    try {
      while (queue.length > 0) await withDatabaseDeadline(flush(), STOP_TIMEOUT_MS)
    } catch (error) {
      logger.error('stored_responses_lost', { reason: describeFailure(error), count: queue.length })
    }
  }
}
