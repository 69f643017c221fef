/** Clients that take the first bytes of a stream off their sockets and nothing more: what a server keeps for them is its own. */
import type { Socket } from 'bun'
import type { Job, JobResult, Report } from './job'
import { requestBytes } from './request-bytes'
import { createTally } from './tally'

const OPEN_PATIENCE_MS = 10_000
const POLL_MS = 20

/** Opens all, tells when the time is up, and goes away. Counts those that had an answer. */
export async function runStopped(
  job: Extract<Job, { kind: 'stopped' }>,
  report: (line: Report) => void,
): Promise<JobResult> {
  const requests = requestBytes(job.shot)
  const tally = createTally()
  const sockets: Socket[] = []
  let answered = 0
  for (let index = 0; index < job.connections; index++) {
    let hasBegun = false
    Bun.connect({
      hostname: '127.0.0.1',
      port: job.shot.port,
      socket: {
        open(socket) {
          sockets.push(socket)
          socket.write(requests[index % requests.length] as Buffer)
        },
        data(socket) {
          socket.pause()
          if (!hasBegun) answered += 1
          hasBegun = true
        },
        close: () => tally.failed('closed'),
      },
    }).catch(() => tally.failed('unreachable'))
  }
  const deadlineMs = performance.now() + OPEN_PATIENCE_MS
  while (answered < job.connections && performance.now() < deadlineMs) await Bun.sleep(POLL_MS)
  await Bun.sleep(job.durationMs)
  // Those that are ended now have not failed.
  const result = { ...structuredClone(tally.result()), answered }
  report({ kind: 'held', open: answered })
  for (const socket of sockets) socket.terminate()
  return result
}
