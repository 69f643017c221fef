/**
 * The load process: reads jobs from standard input, one line each, and writes what came of them. One client of our own for all
 * peers, because the usual ones know no first token, no delay of a chunk, no ten thousand open streams and no key per request.
 */
import { runClosed, runHeld, runOnce } from './closed-loop'
import type { Job, JobResult, Report } from './job'
import { linesOf } from './lines'
import { runOpen } from './open-loop'
import { runStopped } from './stopped-readers'

function write(line: Report): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

function run(job: Job): Promise<JobResult> {
  switch (job.kind) {
    case 'closed':
      return runClosed(job)
    case 'open':
      return runOpen(job)
    case 'held':
      return runHeld(job, write)
    case 'stopped':
      return runStopped(job, write)
    case 'once':
      return runOnce(job)
  }
}

for await (const line of linesOf(Bun.stdin.stream()))
  write({ kind: 'done', result: await run(JSON.parse(line) as Job) })
process.exit(0)
