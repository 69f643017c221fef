/** Runs several server processes on one port: starts them, starts a new one where one dies, and stops them together. */
import type { Logger } from '@/lib/logger'

type Supervisor = {
  /** True once all processes serve; false where one of them has ended before it did. */
  serves: Promise<boolean>
  stop(signal: NodeJS.Signals): Promise<void>
}

/** What a process says to its supervisor when it serves. */
export const SERVES = 'serves'

type SuperviseOptions = {
  count: number
  /** What each process runs, and the environment that tells it where the stores are. */
  command: string[]
  environment: Record<string, string | undefined>
  logger: Logger
}

/** A process that dies at once would otherwise be started without pause. */
const RESTART_PAUSE_MS = 500

/** Starts the processes; all log to this process's output. */
export function supervise(options: SuperviseOptions): Supervisor {
  const { count, command, environment, logger } = options
  const children = new Set<Bun.Subprocess>()
  let isStopping = false
  let awaited = count
  const { promise: serves, resolve } = Promise.withResolvers<boolean>()

  function start(): void {
    const child = Bun.spawn(command, {
      env: environment,
      stdio: ['ignore', 'inherit', 'inherit'],
      ipc: (message) => {
        if (message === SERVES && --awaited === 0) resolve(true)
      },
    })
    children.add(child)
    void child.exited.then(async (code) => {
      children.delete(child)
      resolve(false)
      if (isStopping) return
      logger.error('server_process_died', { pid: child.pid, code })
      await Bun.sleep(RESTART_PAUSE_MS)
      if (!isStopping) start()
    })
  }

  for (let index = 0; index < count; index++) start()
  return {
    serves,
    async stop(signal) {
      isStopping = true
      for (const child of children) child.kill(signal)
      await Promise.all([...children].map((child) => child.exited))
    },
  }
}
