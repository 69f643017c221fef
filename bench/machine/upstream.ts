/** Starts the mock upstream process and learns its port. */
import { join } from 'node:path'
import { linesOf } from '@bench/load/lines'
import { plainEnvironment, stopOf, withMoreFiles } from './program'

export type MockUpstream = { port: number; pid: number; stop(): Promise<void> }

const MAIN = join(import.meta.dir, '..', 'mock', 'main.ts')

/** Starts it. */
export async function startMockUpstream(): Promise<MockUpstream> {
  const child = Bun.spawn(withMoreFiles([process.execPath, MAIN]), {
    env: plainEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = stopOf(child)
  const { value } = await linesOf(child.stdout).next()
  if (value === undefined) throw new Error('the mock upstream ended before it said its port')
  return { port: Number(value), pid: child.pid, stop }
}
