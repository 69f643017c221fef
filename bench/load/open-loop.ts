/** Requests that leave on a schedule, however slow the answers are: a stall counts for everyone who would have come meanwhile. */
import { type Connection, openConnection } from './connection'
import type { Job, JobResult } from './job'
import { requestBytes } from './request-bytes'
import { createTally } from './tally'

/** A timer may be this late through no fault of the peer; only what goes beyond counts from the moment that was meant. */
const TIMER_LATENESS_MS = 1.5
const MAX_CONNECTIONS = 512
const DRAIN_MS = 2_000

/** Sends at the rate for the duration, and waits a moment for the last answers. */
export async function runOpen(job: Extract<Job, { kind: 'open' }>): Promise<JobResult> {
  const { shot, ratePerSecond, durationMs } = job
  const requests = requestBytes(shot)
  const tally = createTally()
  const idle: Lane[] = []
  const lanes: Lane[] = []
  const waiting: number[] = []
  let sent = 0
  let ended = 0

  function release(lane: Lane): void {
    ended += 1
    const dueMs = waiting.shift()
    if (dueMs === undefined) idle.push(lane)
    else dispatch(lane, dueMs)
  }

  function dispatch(lane: Lane, dueMs: number): void {
    const nowMs = performance.now()
    lane.countsFromMs = nowMs - dueMs <= TIMER_LATENESS_MS ? nowMs : dueMs
    lane.connection.send(requests[sent++ % requests.length] as Buffer)
  }

  function openLane(): Lane {
    const lane: Lane = {
      countsFromMs: 0,
      connection: openConnection(shot.port, {
        onAnswer(status, came) {
          tally.answered(status, performance.now() - lane.countsFromMs, shot.pieces - came)
          release(lane)
        },
        onFailure(reason) {
          tally.failed(reason)
          release(lane)
        },
        onChunk: tally.chunk,
      }),
    }
    lanes.push(lane)
    return lane
  }

  const startMs = performance.now()
  const total = Math.floor((durationMs / 1000) * ratePerSecond)
  for (let due = 0; due < total; ) {
    const nowMs = performance.now()
    for (; due < total; due++) {
      const dueMs = startMs + (due * 1000) / ratePerSecond
      if (dueMs > nowMs) break
      const lane = idle.pop() ?? (lanes.length < MAX_CONNECTIONS ? openLane() : undefined)
      if (lane) dispatch(lane, dueMs)
      else waiting.push(dueMs)
    }
    await Bun.sleep(1)
  }
  const result = await lastAnswers(() => ended >= total, tally.result)
  for (const { connection } of lanes) connection.close()
  return result
}

type Lane = { connection: Connection; countsFromMs: number }

async function lastAnswers(areAllIn: () => boolean, read: () => JobResult): Promise<JobResult> {
  const deadlineMs = performance.now() + DRAIN_MS
  while (!areAllIn() && performance.now() < deadlineMs) await Bun.sleep(1)
  return read()
}
