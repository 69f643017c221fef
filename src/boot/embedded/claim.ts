/** Exclusive use of a data directory, by a database file lock that the kernel releases when the process dies. */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { EmbeddedServerError } from './error'

export type Claim = { release(): void }

const POLL_MS = 50
/** References that prevent garbage collection: collecting a connection would release its lock. */
const heldClaims = new Set<Database>()

/** Claims `directory` within `waitMs`, else undefined. Throws {@link EmbeddedServerError} if the directory is not writable. */
export async function claimDirectory(directory: string, waitMs: number): Promise<Claim | undefined> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const claim = tryToClaim(join(directory, 'owner.lock'))
    if (claim || performance.now() >= deadline) return claim
    await Bun.sleep(POLL_MS)
  }
}

function tryToClaim(path: string): Claim | undefined {
  let opened: Database | undefined
  try {
    opened = new Database(path, { create: true })
    opened.run('PRAGMA busy_timeout = 0')
    opened.run('BEGIN EXCLUSIVE')
  } catch (error) {
    opened?.close()
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return undefined
    throw new EmbeddedServerError(`Cannot lock ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
  const database = opened
  heldClaims.add(database)
  return {
    release() {
      if (!heldClaims.delete(database)) return
      database.close()
    },
  }
}
