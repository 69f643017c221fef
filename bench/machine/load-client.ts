/** The other end of the load process: hands it a job and waits for the result. */
import { join } from 'node:path'
import type { Job, JobResult, Report } from '@bench/load/job'
import { linesOf } from '@bench/load/lines'
import { plainEnvironment, stopOf, withMoreFiles } from './program'

export interface LoadClient {
  readonly pid: number
  /** Runs one job; one at a time. `onHeld` is called while the streams of a held job are all open. */
  run(job: Job, onHeld?: (open: number) => void): Promise<JobResult>
  stop(): Promise<void>
}

const MAIN = join(import.meta.dir, '..', 'load', 'main.ts')

/** Starts the load process. */
export function startLoadClient(): LoadClient {
  const child = Bun.spawn(withMoreFiles([process.execPath, MAIN]), {
    env: plainEnvironment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const stop = stopOf(child)
  const lines = linesOf(child.stdout)
  return {
    pid: child.pid,
    async run(job, onHeld) {
      child.stdin.write(`${JSON.stringify(job)}\n`)
      await child.stdin.flush()
      for (;;) {
        const { value, done } = await lines.next()
        if (done) throw new Error('the load process has ended')
        const report = JSON.parse(value) as Report
        if (report.kind === 'done') return report.result
        onHeld?.(report.open)
      }
    },
    stop,
  }
}
