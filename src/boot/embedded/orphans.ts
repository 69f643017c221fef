/** Finds and stops server processes that an earlier gateway left running on a data directory. */
import { readdir, readFile, readlink, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { EmbeddedServerError } from './error'
import { runToEnd } from './process'

const POLL_MS = 20

/**
 * Process ids of servers that use `directory`. On Linux: processes in that working directory that run one of `executables`, so an old pid
 * file cannot name an unrelated process. Elsewhere: the process of the pid file, if it runs one of `executables`. Of a process family only
 * the top one is returned.
 */
export async function findServerProcesses(directory: string, executables: readonly string[]): Promise<number[]> {
  const real = await realpath(directory).catch(() => directory)
  if (process.platform !== 'linux') return findByPidFile(real, executables)
  const parents = new Map<number, number>()
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const parent = await readMatchingParent(`/proc/${entry}`, real, executables)
    if (parent !== undefined) parents.set(Number(entry), parent)
  }
  return [...parents].filter(([, parent]) => !parents.has(parent)).map(([pid]) => pid)
}

async function readMatchingParent(
  path: string,
  directory: string,
  executables: readonly string[],
): Promise<number | undefined> {
  try {
    const workingDirectory = await readlink(`${path}/cwd`)
    if (workingDirectory !== directory && !workingDirectory.startsWith(`${directory}/`)) return undefined
    // Linux adds this suffix if the program file was replaced, such as by a reinstallation.
    const program = (await readlink(`${path}/exe`)).replace(/ \(deleted\)$/, '')
    if (!executables.includes(basename(program))) return undefined
    const afterName = (await readFile(`${path}/stat`, 'utf8')).split(') ').at(-1) ?? ''
    return Number(afterName.split(' ')[1])
  } catch {
    // The process has ended, or belongs to a user whose processes could not use the files either.
    return undefined
  }
}

async function findByPidFile(directory: string, executables: readonly string[]): Promise<number[]> {
  for (const name of ['redis.pid', 'data/postmaster.pid']) {
    const text = await readFile(join(directory, name), 'utf8').catch(() => '')
    const pid = Number.parseInt(text, 10)
    if (!(pid > 1)) continue
    const { output } = await runToEnd(['ps', '-o', 'comm=', '-p', String(pid)])
    if (executables.some((executable) => basename(output.trim()).startsWith(executable))) return [pid]
  }
  return []
}

/** Sends `signal` to the processes; kills those still running after `timeoutMs`. Throws {@link EmbeddedServerError} after twice as long. */
export async function stopProcesses(pids: readonly number[], signal: NodeJS.Signals, timeoutMs: number): Promise<void> {
  let deadline = performance.now() + timeoutMs
  for (const pid of pids) trySignal(pid, signal)
  let left = await filterRunning(pids)
  let killed = false
  while (left.length > 0) {
    if (performance.now() > deadline) {
      if (killed) throw new EmbeddedServerError(`Process ${left.join(', ')} uses the data and cannot be stopped.`)
      for (const pid of left) trySignal(pid, 'SIGKILL')
      killed = true
      deadline = performance.now() + timeoutMs
    }
    await Bun.sleep(POLL_MS)
    left = await filterRunning(left)
  }
}

function trySignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}

async function filterRunning(pids: readonly number[]): Promise<number[]> {
  const running: number[] = []
  for (const pid of pids) if (trySignal(pid, 0) && !(await isZombie(pid))) running.push(pid)
  return running
}

/** Whether the process has ended but was not reaped by its parent. It then has no open files. */
async function isZombie(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.split(') ').at(-1)?.startsWith('Z') ?? false
}
