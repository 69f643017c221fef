/** Gets log lines out of the process in batches: never blocks the event loop, never dies of a closed pipe, bounded in memory. */
import { write, writeSync } from 'node:fs'

export interface LogWriter {
  write(line: string): void
  /** Resolves when everything written so far has left the process or been given up. */
  flush(): Promise<void>
  /** Writes what is left before the process exits. */
  flushSync(): void
}

const STDOUT = 1
/** While the reader stalls, lines beyond this many characters are dropped and counted. */
const MAX_QUEUED_CHARS = 8 * 1024 * 1024
const RETRY_MS = 10

/** Creates a writer to a file descriptor, standard output unless told otherwise. */
export function createLogWriter(descriptor = STDOUT): LogWriter {
  let queued: string[] = []
  let queuedChars = 0
  let dropped = 0
  let isBusy = false
  let isBroken = false
  let rest: Uint8Array | undefined
  let waiting: (() => void)[] = []

  function takeBatch(): Uint8Array {
    const note = dropped > 0 ? `{"level":"warn","event":"log_lines_dropped","lines":${dropped}}\n` : ''
    const batch = Buffer.from(queued.join('') + note)
    queued = []
    queuedChars = 0
    dropped = 0
    return batch
  }

  function pump(): void {
    if (isBroken || (rest === undefined && queued.length === 0)) {
      isBusy = false
      for (const resolve of waiting) resolve()
      waiting = []
      return
    }
    isBusy = true
    const bytes = rest ?? takeBatch()
    rest = bytes
    write(descriptor, bytes, 0, bytes.length, null, (error, written) => {
      if (error?.code === 'EAGAIN') return void setTimeout(pump, RETRY_MS)
      if (error) isBroken = true
      rest = !error && written < bytes.length ? bytes.subarray(written) : undefined
      pump()
    })
  }

  return {
    write(line) {
      if (isBroken) return
      if (queuedChars + line.length > MAX_QUEUED_CHARS) {
        dropped++
        return
      }
      queued.push(line)
      queuedChars += line.length
      if (!isBusy) {
        isBusy = true
        setImmediate(pump)
      }
    },
    flush: () => (isBusy ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()),
    flushSync() {
      if (isBroken) return
      const bytes = takeBatch()
      try {
        for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
      } catch {
        isBroken = true
      }
    },
  }
}
