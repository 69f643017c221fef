/** Runs programs as child processes, with logs. Embedded servers survive a Ctrl-C in the terminal, but not the end of the gateway. */
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

/** A started server. `exited` resolves when it has ended; `signal` has no effect after that. */
export type ServerProcess = {
  pid: number
  exited: Promise<void>
  hasExited(): boolean
  signal(name: NodeJS.Signals): void
}

type SpawnOptions = {
  command: readonly string[]
  environment: Readonly<Record<string, string>>
  workingDirectory: string
  logPath: string
}

/** The gateway's environment, of which only PATH, proxy settings and npm's command name are read. */
export type OuterEnvironment = Readonly<Record<string, string | undefined>>

/** The environment of every child process. It has none of the gateway's own variables, so it contains no keys. */
export const CHILD_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
} as const

/** Starts `command` in a session of its own (not reached by Ctrl-C), with output to `logPath`. Throws if it can't run. */
export function spawnServer(options: SpawnOptions): ServerProcess {
  const [program = '', ...parameters] = options.command
  const log = openSync(options.logPath, 'a', 0o600)
  const child = spawn(program, parameters, {
    cwd: options.workingDirectory,
    env: options.environment,
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  let gone = false
  const exited = new Promise<void>((resolve) => {
    const finish = () => {
      gone = true
      resolve()
    }
    child.once('exit', finish)
    child.once('error', finish)
  })
  child.unref()
  return {
    pid: child.pid ?? 0,
    exited,
    hasExited: () => gone,
    signal(name) {
      if (!gone) child.kill(name)
    },
  }
}

/** Command prefix that sends `signal` to a program when its parent dies. Must be the innermost prefix; empty if the tool is missing. */
export function deathSignalPrefix(signal: NodeJS.Signals): readonly string[] {
  const prefix = ['setpriv', '--pdeathsig', signal]
  supportsDeathSignal ??= spawnSync('setpriv', [...prefix.slice(1), 'true'], { env: CHILD_ENVIRONMENT }).status === 0
  return supportsDeathSignal ? prefix : []
}

let supportsDeathSignal: boolean | undefined

type RunOptions = {
  environment?: Readonly<Record<string, string>>
  workingDirectory?: string
  input?: string
  timeoutMs?: number
}

/** Runs `command` with `input`. Returns exit code (127: not executable) and output. Killed after `timeoutMs`. */
export async function runToEnd(
  command: readonly string[],
  options: RunOptions = {},
): Promise<{ exitCode: number; output: string }> {
  try {
    const child = Bun.spawn([...command], {
      cwd: options.workingDirectory ?? '/',
      env: { ...CHILD_ENVIRONMENT, ...options.environment },
      stdin: new TextEncoder().encode(options.input ?? ''),
      stdout: 'pipe',
      stderr: 'pipe',
      ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs, killSignal: 'SIGKILL' }),
    })
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { exitCode: await child.exited, output: stdout + stderr }
  } catch (cause) {
    return { exitCode: 127, output: String(cause) }
  }
}
