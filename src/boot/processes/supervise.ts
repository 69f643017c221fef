import type { Logger } from '@/lib/logger'
import { createGatheredMetrics } from './gather-metrics'
import type { FromProcess, ToProcess } from './messages'

type Supervisor = {
  /** True once all processes serve; false if one ended before. */
  serves: Promise<boolean>
  /** Makes one process propose a catalogue reload to all. No effect while none serves. */
  reload(): void
  stop(signal: NodeJS.Signals): Promise<void>
}

type SuperviseOptions = {
  count: number
  command: string[]
  environment: Record<string, string | undefined>
  logger: Logger
}

/** The pause before a restart, in case a process fails at once after every start. */
const RESTART_PAUSE_MS = 500

/** Runs several server processes on one port: starts, restarts and stops them. All log to this process's output. */
export function supervise(options: SuperviseOptions): Supervisor {
  const { count, command, environment, logger } = options
  const children = new Set<Bun.Subprocess>()
  const metrics = createGatheredMetrics()
  const serving = new Set<Bun.Subprocess>()
  let isStopping = false
  let awaited = count
  const { promise: serves, resolve } = Promise.withResolvers<boolean>()

  function start(name: string): void {
    const send = (message: ToProcess) => void child.send(message)
    const counted = metrics.started(name, send)
    const child = Bun.spawn(command, {
      env: environment,
      stdio: ['ignore', 'inherit', 'inherit'],
      ipc: (message: FromProcess) => {
        switch (message.type) {
          case 'serves':
            serving.add(child)
            counted.serves()
            if (--awaited === 0) resolve(true)
            break
          case 'counted':
            counted.counted(message.snapshot)
            break
          case 'expose':
            void expose(message.question, send)
        }
      },
    })
    children.add(child)
    void child.exited.then(async (code) => {
      children.delete(child)
      counted.ended()
      serving.delete(child)
      resolve(false)
      if (isStopping) return
      logger.error('server_process_died', { process: name, pid: child.pid, code })
      await Bun.sleep(RESTART_PAUSE_MS)
      if (!isStopping) start(name)
    })
  }

  async function expose(question: number, send: (message: ToProcess) => void): Promise<void> {
    try {
      send({ type: 'exposition', question, text: await metrics.exposition() })
    } catch (error) {
      // The process that requested the metrics may have ended. This must not end the supervisor.
      logger.warn('metrics_not_exposed', { error })
    }
  }

  for (let index = 1; index <= count; index++) start(String(index))
  return {
    serves,
    reload: () => serving.values().next().value?.kill('SIGHUP'),
    async stop(signal) {
      isStopping = true
      // A second signal ends the supervisor at once, and must end its processes too.
      process.on('exit', () => {
        for (const child of children) child.kill('SIGKILL')
      })
      for (const child of children) child.kill(signal)
      await Promise.all([...children].map((child) => child.exited))
    },
  }
}
