/** One file of the journal of settlements: how it is written, brought to the disk in groups, and read. */
import { closeSync, fdatasync, mkdirSync, openSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Settlement } from '@/ledger/outcomes'
import { areFacts } from '@/ledger/usage-record'
import { randomId } from '@/lib/ids'
import { isJsonObject, parseJson } from '@/lib/json'
import { MAX_NANO } from '@/lib/money'

/** A file that is being written. */
export interface WrittenFile {
  readonly path: string
  readonly openedMs: number
  readonly bytes: number
  /** Ids of settlements that are not known to be booked. */
  readonly waiting: Set<string>
  readonly isFound: false
  /** Adds a line to those that the next {@link flush} writes. */
  add(settlement: Settlement): void
  /** Writes what was added. Throws if the disk takes no more. */
  flush(): void
  /** Flushes everything and closes the file. Resolves once the disk has it. */
  end(): Promise<void>
}

type FileOptions = {
  folder: string
  nowMs: number
  /** Milliseconds that written lines wait for others to go to the disk together. */
  syncMs: number
  /** Told where the disk has failed. */
  onFailure(error: unknown): void
  /** Brings what was written to the disk; left out, by the system's call. */
  syncData?: ((descriptor: number) => Promise<void>) | undefined
}

const syncBySystem = promisify(fdatasync)

/** Begins a file of a new name. Throws if the folder takes none. */
export function openJournalFile(options: FileOptions): WrittenFile {
  const { folder, nowMs, syncMs, onFailure, syncData = syncBySystem } = options
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `${randomId('journal')}.jsonl`)
  const descriptor = openSync(path, 'ax', 0o600)
  let lines = ''
  let bytes = 0
  let isDirty = false
  let isNew = true
  let isEnded = false
  let syncing: Promise<void> | undefined

  async function sync(): Promise<void> {
    while (isDirty) {
      if (!isEnded) await Bun.sleep(syncMs)
      isDirty = false
      await syncData(descriptor)
      if (isNew) await syncFolder(folder)
      isNew = false
    }
  }

  function keepSyncing(): void {
    syncing ??= sync()
      .catch(onFailure)
      .finally(() => {
        syncing = undefined
      })
  }

  return {
    ...{ path, openedMs: nowMs, waiting: new Set(), isFound: false },
    get bytes() {
      return bytes
    },
    add(settlement) {
      lines += `${JSON.stringify(settlement)}\n`
    },
    flush() {
      if (lines === '') return
      const text = lines
      lines = ''
      const written = writeSync(descriptor, text)
      bytes += written
      if (written < Buffer.byteLength(text)) throw new Error('the disk took a part of the text')
      isDirty = true
      keepSyncing()
    },
    async end() {
      isEnded = true
      await syncing
      closeSync(descriptor)
    },
  }
}

/** A new name lasts only once its folder is on the disk. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Reads a file's lines. Its last may be torn; so may any be after a loss of power. */
export function readSettlements(text: string): { settlements: Settlement[]; unreadable: number } {
  const lines = text.split('\n').filter((line) => line !== '')
  const settlements = lines.flatMap((line) => readSettlement(line) ?? [])
  return { settlements, unreadable: lines.length - settlements.length }
}

function readSettlement(line: string): Settlement | undefined {
  const value = parseJson(line)
  if (!isJsonObject(value)) return undefined
  const { accountId, keyId, holdId, cost, tokens, facts } = value
  const hasNames = [accountId, keyId, holdId].every((name) => typeof name === 'string' && name !== '')
  const hasNumbers = isWithin(cost, MAX_NANO) && isWithin(tokens, Number.MAX_SAFE_INTEGER)
  return hasNames && hasNumbers && isJsonObject(facts) && areFacts(facts) ? (value as unknown as Settlement) : undefined
}

function isWithin(value: unknown, most: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most
}
