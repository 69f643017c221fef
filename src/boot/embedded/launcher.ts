import { readFileSync } from 'node:fs'
import type { OuterEnvironment } from './process'

const POLL_MS = 500
/** Maximum ancestors to look at: `bun run`, a shell, npx. */
const MAX_DEPTH = 3
/** The process title of npx while it runs Bun. */
const NPX_TITLE = /^npm exec bun[@ ]/

/**
 * Calls `onGone` once when a process between this one and its launcher (`bun run start`, or `npx` before that) has ended. Does nothing if
 * the gateway was started otherwise, or without /proc. Returns a function that ends the watch. The watch does not keep the process alive.
 */
export function watchLauncher(environment: OuterEnvironment, onGone: () => void): () => void {
  const chain = environment.npm_lifecycle_event === 'start' ? findChain() : []
  if (chain.length < 2) return () => undefined
  const timer = setInterval(() => {
    if (isWhole(chain)) return
    clearInterval(timer)
    onGone()
  }, POLL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** The ids of this process, its parent, and further ancestors up to an npx that runs Bun, if any. */
function findChain(): readonly number[] {
  const chain = [process.pid]
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const parent = parentOf(chain.at(-1) ?? 0)
    if (parent === undefined || parent <= 1) break
    chain.push(parent)
    if (NPX_TITLE.test(commandOf(parent))) return chain
  }
  return chain.slice(0, 2)
}

function isWhole(chain: readonly number[]): boolean {
  return chain.slice(1).every((parent, index) => parentOf(chain[index] ?? 0) === parent)
}

function parentOf(pid: number): number | undefined {
  const fields = readProcess(pid, 'stat').split(') ').at(-1)?.split(' ') ?? []
  return fields[1] === undefined ? undefined : Number(fields[1])
}

function commandOf(pid: number): string {
  return readProcess(pid, 'cmdline').replaceAll('\0', ' ')
}

function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
