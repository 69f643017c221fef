/** One file of the settlement journal: writes it, syncs it to disk in groups, and reads it. */
import { closeSync, fdatasync, mkdirSync, openSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Settlement } from '@/ledger/outcomes'
import { areFacts } from '@/ledger/usage-record'
import { randomId } from '@/lib/ids'
import { isJsonObject, parseJson } from '@/lib/json'
import { MAX_NANO } from '@/lib/money'

export interface WrittenFile {
  readonly path: string
  readonly openedMs: number
  readonly bytes: number
  /** Ids of settlements that are not known to be in Postgres. */
  readonly waiting: Set<string>
  readonly isFound: false
  /** False once the disk has refused a write. */
  isSound: boolean
  add(settlement: Settlement): void
  flush(): void
  /** Flushes all lines and closes the file. Resolves once it is on disk. */
  end(): Promise<void>
}

type FileOptions = {
  folder: string
  nowMs: number
  /** Milliseconds for which written lines are collected before a sync. */
  syncMs: number
  onFailure(error: unknown): void
  /** Syncs a file; default: the system call. */
  syncData?: ((descriptor: number) => Promise<void>) | undefined
}

const syncBySystem = promisify(fdatasync)

/** Creates a file with a new name. Throws if the folder is not writable. */
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
    ...{ path, openedMs: nowMs, waiting: new Set(), isFound: false, isSound: true },
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

/** A new file name is durable only after its folder was synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Parses a file's lines. The last line may be incomplete; after a power loss, any line. */
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
