/**
 * Stores settlements on this machine's disk, from before they are sent until they are in Postgres. The next start repeats settlements that
 * Redis lost together with this process (docs/decisions/0040-a-journal-of-settlements.md). A journal is a folder of files, with one
 * settlement per line. A process writes one file for some seconds, then the next. It never writes to another process's file, so processes
 * and gateways may share the folder. Settling twice is harmless.
 */
import { readdir, readFile, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ledger } from '@/ledger/ledger'
import type { Settlement } from '@/ledger/outcomes'
import type { RecordEnvelope } from '@/ledger/usage-record'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import { type BackgroundWorker, createWorkerLoop } from '@/lib/worker-loop'
import { openJournalFile, readSettlements, type WrittenFile } from './journal-file'

export interface SettlementJournal {
  /**
   * Adds a settlement to the lines written at the end of this turn of the event loop. Returns the file; if that is
   * sound after the next {@link flush}, it has the settlement. Returns undefined if no file takes it. Never throws.
   */
  add(settlement: Settlement): Pick<WrittenFile, 'isSound'> | undefined
  /** Writes the added lines to system memory, which survives this process; synced {@link SYNC_MS} later. Never throws. */
  flush(): void
  /** Forgets a settlement that is in Postgres or will never be charged. */
  forget(holdId: string): void
}

export interface OpenJournal extends SettlementJournal, BackgroundWorker {
  /** Takes over the files of earlier processes. Returns their settlements without duplicates. */
  takeOver(): Promise<Settlement[]>
  /** Reports records that are now in Postgres. */
  booked(records: readonly Pick<RecordEnvelope, 'holdId' | 'kind'>[]): void
  /** False after a failed write, until a write succeeds. */
  isSound(): boolean
}

/** A journal that stores nothing, for gateways without a journal folder. */
export const NO_JOURNAL: SettlementJournal = {
  add: () => undefined,
  flush: () => undefined,
  forget: () => undefined,
}

type JournalOptions = Pick<Parameters<typeof openJournalFile>[0], 'syncData'> & {
  folder: string
  ledger: Pick<Ledger, 'bookedHolds'>
  clock: Clock
  logger: Logger
  /** Maximum size of all files of this process together. */
  maxBytes?: number
  /** Milliseconds for which a file is written; also the pause between two checks of the files. */
  fileMs?: number
}

/** Pause between two syncs to disk. A sync includes all lines written since the last one. */
const SYNC_MS = 50
const FILE_MS = 5_000
/** Maximum size of the files: enough for minutes of a busy gateway without Postgres. By then Redis has saved the charges to disk. */
const MAX_BYTES = 64 * 1024 * 1024
/** Delay of the next try after a failed write. */
const RETRY_MS = 1_000
/** No process still writes to a file this old: many times {@link FILE_MS}. */
const ABANDONED_MS = 60_000

type KeptFile = { path: string; openedMs: number; bytes: number; waiting: Set<string>; isFound: boolean }

/** Creates the journal of one process in `folder`, which need not exist. */
export function createSettlementJournal(options: JournalOptions): OpenJournal {
  return new FolderJournal(options)
}

class FolderJournal implements OpenJournal {
  private current: WrittenFile | undefined
  /** The files of this process, oldest first, including the current one. */
  private files: KeptFile[] = []
  private flushing: NodeJS.Immediate | undefined
  private refusedAtMs: number | undefined
  private readonly fileMs: number
  private readonly loop: BackgroundWorker

  constructor(private readonly options: JournalOptions) {
    const { logger, fileMs = FILE_MS } = options
    this.fileMs = fileMs
    this.loop = createWorkerLoop({
      firstPauseMs: fileMs,
      round: async () => {
        await this.tidy()
        return fileMs
      },
      onFailure(error) {
        logger.warn('settlement_journal_not_tidied', { error })
        return fileMs
      },
    })
  }

  start(): void {
    this.loop.start()
  }

  async stop(): Promise<void> {
    await this.loop.stop()
    this.flush()
    await this.current?.end()
    this.current = undefined
    await this.removeBooked().catch(() => undefined)
  }

  isSound(): boolean {
    return this.refusedAtMs === undefined
  }

  add(settlement: Settlement): WrittenFile | undefined {
    const nowMs = this.options.clock.monotonic()
    if (this.refusedAtMs !== undefined && nowMs - this.refusedAtMs < RETRY_MS) return undefined
    return this.attempt(() => {
      const file = this.fileAt(nowMs)
      file.waiting.add(settlement.holdId)
      file.add(settlement)
      this.flushing ??= setImmediate(() => this.flush())
      return file
    })
  }

  flush(): void {
    if (!this.flushing) return
    clearImmediate(this.flushing)
    this.flushing = undefined
    this.attempt(() => this.current?.flush())
    if (this.refusedAtMs === undefined || !this.current) return
    this.refusedAtMs = undefined
    this.options.logger.info('settlement_journal_works')
  }

  forget(holdId: string): void {
    for (const { waiting } of this.files) waiting.delete(holdId)
  }

  booked(records: readonly Pick<RecordEnvelope, 'holdId' | 'kind'>[]): void {
    // A charge at expiry is an estimate that the settlement corrects later, so the settlement is still needed.
    for (const { holdId, kind } of records) if (kind !== 'expire') this.forget(holdId)
  }

  async takeOver(): Promise<Settlement[]> {
    const { folder, logger } = this.options
    const latest = new Map<string, Settlement>()
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name)
      // Another process may have removed it.
      const text = await readFile(path, 'utf8').catch(() => '')
      const { settlements, unreadable } = readSettlements(text)
      if (unreadable > 0) logger.warn('settlement_journal_torn', { file: name, lines: unreadable })
      for (const settlement of settlements) {
        // A settlement without `freePerHour` has the ledger's decision about a disconnect. It wins, in any order of lines and files.
        const isDecided = latest.has(settlement.holdId) && latest.get(settlement.holdId)?.freePerHour === undefined
        if (!isDecided || settlement.freePerHour === undefined) latest.set(settlement.holdId, settlement)
      }
      const waiting = new Set(settlements.map(({ holdId }) => holdId))
      const bytes = Buffer.byteLength(text)
      this.files.unshift({ path, openedMs: Number.NEGATIVE_INFINITY, bytes, waiting, isFound: true })
    }
    return [...latest.values()]
  }

  /** The current file, or a new one if the current one is old, since another process may have taken over an old file. */
  private fileAt(nowMs: number): WrittenFile {
    if (this.current && nowMs - this.current.openedMs < this.fileMs) return this.current
    this.endCurrent()
    const { folder, syncData } = this.options
    const onFailure = (error: unknown) => this.refuse(error)
    this.current = openJournalFile({ folder, nowMs, syncMs: SYNC_MS, onFailure, syncData })
    this.files.push(this.current)
    return this.current
  }

  private endCurrent(): void {
    this.flush()
    void this.current?.end()
    this.current = undefined
  }

  private attempt<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      this.refuse(error)
      return undefined
    }
  }

  private refuse(error: unknown): void {
    if (this.refusedAtMs === undefined) this.options.logger.error('settlement_journal_failed', { error })
    this.refusedAtMs = this.options.clock.monotonic()
    if (this.current) this.current.isSound = false
    this.endCurrent()
  }

  private async tidy(): Promise<void> {
    const nowMs = this.options.clock.monotonic()
    if (this.current && nowMs - this.current.openedMs >= this.fileMs) this.endCurrent()
    this.giveUpOldest()
    // After this time, this process's flusher has reported nearly all of its records. Records of other flushers are looked up in Postgres.
    const ripe = this.files.filter(({ openedMs }) => nowMs - openedMs >= 2 * this.fileMs)
    const holdIds = ripe.flatMap(({ waiting }) => [...waiting])
    if (holdIds.length > 0) for (const holdId of await this.options.ledger.bookedHolds(holdIds)) this.forget(holdId)
    await this.removeBooked()
  }

  private async removeBooked(): Promise<void> {
    for (const file of this.files) {
      if (file === this.current || file.waiting.size > 0) continue
      const isRemoved = file.isFound ? await removeAbandoned(file) : await remove(file)
      if (isRemoved) this.files = this.files.filter((one) => one !== file)
    }
  }

  private giveUpOldest(): void {
    const own = this.files.filter(({ isFound }) => !isFound)
    let bytes = own.reduce((sum, file) => sum + file.bytes, 0)
    for (const file of own) {
      if (bytes <= (this.options.maxBytes ?? MAX_BYTES) || file === this.current) return
      bytes -= file.bytes
      this.options.logger.warn('settlement_journal_full', { bytes: file.bytes, settlements: file.waiting.size })
      file.waiting.clear()
    }
  }
}

async function remove({ path }: KeptFile): Promise<true> {
  await unlink(path).catch((error) => {
    if (error.code !== 'ENOENT') throw error
  })
  return true
}

/** Removes the file if no process writes it any more. A living process removes its own file. */
async function removeAbandoned(file: KeptFile): Promise<boolean> {
  const found = await stat(file.path).catch(() => undefined)
  if (!found || found.size !== file.bytes) return true
  return Date.now() - found.mtimeMs > ABANDONED_MS && (await remove(file))
}
