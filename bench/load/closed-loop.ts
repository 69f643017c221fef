/** Connections that each send their next request as soon as the last was answered: what a server can do at most. */
import { withDeadline } from '@/lib/deadline'
import { type Connection, openConnection } from './connection'
import type { Job, JobResult, Report, Shot } from './job'
import { requestBytes } from './request-bytes'
import { createTally, type Tally } from './tally'

/** A connection that failed waits so long before it tries again, so that a dead peer is not a busy loop. */
const RETRY_MS = 20
/** How long streams may take to end. */
const STREAM_PATIENCE_MS = 20_000

/** Gives one request after another, so that keys take turns. */
type Next = () => Buffer | undefined

/**
 * Runs connections until the time is up. Answers in one piece that are under way then are not counted; streams are read to their end,
 * since a server does other things for a client that leaves.
 */
export async function runClosed(job: Extract<Job, { kind: 'closed' }>): Promise<JobResult> {
  const next = inTurn(requestBytes(job.shot))
  const tally = createTally()
  const loops = Array.from({ length: job.connections }, (_, index) => {
    return startLoop(job.shot, next, tally, (job.rampMs * index) / job.connections)
  })
  await Bun.sleep(job.durationMs + job.rampMs)
  if (job.shot.stream) {
    const ends = Promise.all(loops.map((loop) => loop.finish()))
    await withDeadline(ends, STREAM_PATIENCE_MS, () => [])
  }
  const result = tally.result()
  for (const loop of loops) loop.stop()
  return result
}

/** Opens streams and keeps them open; tells when all are. */
export async function runHeld(job: Extract<Job, { kind: 'held' }>, report: (line: Report) => void): Promise<JobResult> {
  const next = inTurn(requestBytes(job.shot))
  const tally = createTally()
  const begun = new Set<number>()
  const loops = Array.from({ length: job.connections }, (_, index) => {
    const noting: Tally = {
      ...tally,
      firstToken(milliseconds) {
        begun.add(index)
        tally.firstToken(milliseconds)
      },
    }
    return startLoop(job.shot, next, noting, (job.rampMs * index) / job.connections)
  })
  const patienceMs = performance.now() + job.rampMs * 2 + job.durationMs
  while (begun.size < job.connections && performance.now() < patienceMs) await Bun.sleep(RETRY_MS)
  tally.restartDelays()
  report({ kind: 'held', open: begun.size })
  await Bun.sleep(job.durationMs)
  const result = tally.result()
  for (const loop of loops) loop.stop()
  return { ...result, answered: begun.size }
}

/** Sends every request once. */
export async function runOnce(job: Extract<Job, { kind: 'once' }>): Promise<JobResult> {
  const requests = requestBytes(job.shot)
  const tally = createTally()
  let left = requests.length
  const allDone = Promise.withResolvers<void>()
  const ended = () => {
    left -= 1
    if (left === 0) allDone.resolve()
  }
  const counting: Tally = {
    ...tally,
    answered(status, latencyMs, missing) {
      tally.answered(status, latencyMs, missing)
      ended()
    },
    failed(reason) {
      tally.failed(reason)
      ended()
    },
  }
  const next: Next = () => requests.pop()
  const loops = Array.from({ length: job.connections }, () => startLoop(job.shot, next, counting, 0))
  await withDeadline(allDone.promise, job.timeoutMs, () => undefined)
  const result = counting.result()
  for (const loop of loops) loop.stop()
  if (left > 0) result.failures.unanswered = left
  return result
}

function inTurn(requests: readonly Buffer[]): Next {
  let turn = 0
  return () => requests[turn++ % requests.length]
}

/** One connection. */
type Loop = {
  /** Sends nothing more; resolves once nothing is under way. */
  finish(): Promise<void>
  stop(): void
}

function startLoop({ port, pieces }: Shot, next: Next, tally: Tally, delayMs: number): Loop {
  const ended = Promise.withResolvers<void>()
  let connection: Connection | undefined
  let isBusy = false
  let isStopped = false
  let sentMs = 0
  let hasText = false

  function sendNext(): void {
    const request = isStopped ? undefined : next()
    isBusy = request !== undefined
    if (!request) {
      ended.resolve()
      return
    }
    hasText = false
    sentMs = performance.now()
    connection?.send(request)
  }

  function open(): void {
    if (isStopped) return
    connection = openConnection(port, {
      onAnswer(status, came) {
        tally.answered(status, performance.now() - sentMs, pieces - came)
        sendNext()
      },
      onFailure(reason) {
        tally.failed(reason)
        setTimeout(sendNext, RETRY_MS)
      },
      onChunk(delayMs) {
        if (!hasText) tally.firstToken(performance.now() - sentMs)
        hasText = true
        tally.chunk(delayMs)
      },
    })
    sendNext()
  }

  if (delayMs > 0) setTimeout(open, delayMs)
  else open()
  return {
    finish() {
      isStopped = true
      if (!isBusy) ended.resolve()
      return ended.promise
    },
    stop() {
      isStopped = true
      connection?.close()
    },
  }
}
