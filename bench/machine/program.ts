/** Starts the programs of a comparison as children on loopback, and ends each by its own id, however the run itself ends. */
import { openSync } from 'node:fs'
import { processEnvironment } from '@/config/config'

/** A child that was started, and how it is ended: asked first, made to after a while. Resolves once it is gone. */
type Program = { pid: number; isRunning(): boolean; stop(): Promise<void> }

type ProgramOptions = {
  command: readonly string[]
  environment?: Record<string, string>
  workingDirectory?: string
  /** Where all its output goes. */
  logPath: string
}

const STOP_TIMEOUT_MS = 8_000
/** Ten thousand streams take two descriptors each: the limit is raised as far as this machine lets it be. */
const WITH_MORE_FILES = 'ulimit -n 65535 2>/dev/null || ulimit -n "$(ulimit -Hn)"; exec "$@"'

const running = new Set<Bun.Subprocess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A shell's command that runs `command` with as many open files as may be had. */
export function withMoreFiles(command: readonly string[]): string[] {
  return ['bash', '-c', WITH_MORE_FILES, 'bench', ...command]
}

/** The variables that any program needs to be found and to find its home; nothing else of ours reaches a peer. */
export function plainEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '/' } = processEnvironment()
  return { PATH, HOME }
}

/** Starts a program. Its readiness is the caller's to ask for. */
export function startProgram(options: ProgramOptions): Program {
  const log = openSync(options.logPath, 'a')
  const child = Bun.spawn(withMoreFiles(options.command), {
    env: { ...plainEnvironment(), ...options.environment },
    stdio: ['ignore', log, log],
    ...(options.workingDirectory !== undefined && { cwd: options.workingDirectory }),
  })
  return { pid: child.pid, isRunning: () => child.exitCode === null && child.signalCode === null, stop: stopOf(child) }
}

/** How a child is ended; it counts as running until then. */
export function stopOf(child: Bun.Subprocess): () => Promise<void> {
  running.add(child)
  void child.exited.then(() => running.delete(child))
  return async () => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await child.exited
    clearTimeout(timer)
  }
}
