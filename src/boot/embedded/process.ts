/** Runs programs as child processes: embedded servers that outlive a Ctrl-C in the terminal but not the gateway. */
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

/** A started server. `exited` resolves when it is gone; `signal` does nothing after that. */
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

/** Where PATH, proxy settings and the name of the command are read from, as in the environment of a process. */
export type OuterEnvironment = Readonly<Record<string, string | undefined>>

/** The environment every child starts from; nothing of the gateway's own environment (keys!) reaches a child. */
export const CHILD_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
} as const

/** Starts `command` in a session of its own (no Ctrl-C of the terminal), output to `logPath`. Throws if it can't run. */
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

/** Words before a program that signal it when its parent dies. They come last of all wrappers; empty without such a tool. */
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

/** Runs `command` with `input`; returns its exit code (127: not executable) and output. Killed after `timeoutMs`. */
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
