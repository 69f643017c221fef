/** Writes log lines in batches, without blocking the event loop, dying of a closed pipe, or using unbounded memory. */
import { write, writeSync } from 'node:fs'

export interface LogWriter {
  write(line: string): void
  flush(): Promise<void>
  flushSync(): void
}

const STDOUT = 1
/** A write costs as much as a hundred lines, so a line waits this long for further ones. */
const LINGER_MS = 50
/** If this many characters are waiting, they are written at once. */
const BATCH_CHARS = 64 * 1024
/** Maximum characters that wait while the reader stalls. Further lines are dropped and counted. */
const MAX_QUEUED_CHARS = 8 * 1024 * 1024
const RETRY_MS = 10
/** Maximum retries at exit while the reader stalls. */
const MAX_EXIT_RETRIES = 20
/** If a write takes this long, the reader counts as stalled. */
const STALLED_MS = 1_000
/** How long an exit waits for another thread's write, because its end can't be detected. */
const IN_FLIGHT_MS = 250

/** Creates a writer to a file descriptor, by default standard output. */
export function createLogWriter(descriptor = STDOUT): LogWriter {
  let queued: string[] = []
  let queuedChars = 0
  let dropped = 0
  let timer: Timer | undefined
  let isPumping = false
  let isInFlight = false
  let sentAt = 0
  let isBroken = false
  /** The bytes of the current batch that are not written yet. */
  let rest: Uint8Array | undefined
  const waiting: (() => void)[] = []

  function takeBatch(): Uint8Array {
    const note = dropped > 0 ? `{"level":"warn","event":"log_lines_dropped","lines":${dropped}}\n` : ''
    const batch = Buffer.from(queued.join('') + note)
    queued = []
    queuedChars = 0
    dropped = 0
    return batch
  }

  function isBatchDue(): boolean {
    return queuedChars >= BATCH_CHARS || (waiting.length > 0 && queued.length > 0)
  }

  /** Writes now, and continues while a full batch or a caller is waiting. */
  function pump(): void {
    clearTimeout(timer)
    timer = undefined
    isPumping = true
    const bytes = rest ?? takeBatch()
    rest = bytes
    isInFlight = true
    sentAt = performance.now()
    write(descriptor, bytes, 0, bytes.length, null, (error, written) => {
      isInFlight = false
      if (error?.code === 'EAGAIN') return void setTimeout(pump, RETRY_MS)
      if (error) isBroken = true
      rest = !error && written < bytes.length ? bytes.subarray(written) : undefined
      if (!isBroken && (rest || isBatchDue())) return pump()
      isPumping = false
      if (!isBroken && queued.length > 0) timer = setTimeout(pump, LINGER_MS)
      for (const resolve of waiting.splice(0)) resolve()
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
      if (isPumping) return
      if (queuedChars >= BATCH_CHARS) pump()
      else timer ??= setTimeout(pump, LINGER_MS)
    },
    flush() {
      if (isBroken || (!isPumping && queued.length === 0)) return Promise.resolve()
      const flushed = new Promise<void>((resolve) => waiting.push(resolve))
      if (!isPumping) pump()
      return flushed
    },
    flushSync() {
      const isStalled = isInFlight && performance.now() - sentAt > STALLED_MS
      if (isBroken || isStalled) return
      clearTimeout(timer)
      timer = undefined
      // Another thread writes the batch now, and would stop with the process.
      if (isInFlight) Bun.sleepSync(IN_FLIGHT_MS)
      const left = isInFlight || !rest ? [takeBatch()] : [rest, takeBatch()]
      if (!isInFlight) rest = undefined
      isBroken = !left.every((bytes) => writeAllSync(descriptor, bytes))
    },
  }
}

/** Writes the waiting lines when the process exits or crashes. Only a signal without a handler loses the last lines. */
export function flushOnExit(writer: LogWriter): void {
  process.on('exit', writer.flushSync)
}

/** Whether all lines were written. Waits a short time for a slow reader. */
function writeAllSync(descriptor: number, bytes: Uint8Array): boolean {
  let retries = 0
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptor, bytes, at)
    } catch (error) {
      const isStalled = error instanceof Error && 'code' in error && error.code === 'EAGAIN'
      if (!isStalled || retries++ === MAX_EXIT_RETRIES) return false
      Bun.sleepSync(RETRY_MS)
    }
  }
  return true
}
