/** Runs the gateway as operators do: as a process of its own, told everything by its environment. */

import { join } from 'node:path'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { until } from '@test/support/until'
import { deathSignalPrefix } from '@/boot/embedded/process'

const MAIN = join(import.meta.dir, '..', '..', 'src', 'main.ts')

export interface GatewayProcess {
  readonly pid: number
  /** Everything written so far, standard output and standard error together. */
  output(): string
  hasExited(): boolean
  kill(signal: NodeJS.Signals): void
  /** The exit code; null if a signal ended it. */
  exited(): Promise<number | null>
}

/** Tests would leave settlements to each other in the folder that all of them have. */
const NO_JOURNAL = { SETTLEMENT_JOURNAL: 'off' }
/** On a busy machine a store that answers late is none that is away. */
const PATIENT = { REDIS_COMMAND_TIMEOUT_MS: '10000' }

/**
 * Starts `src/main.ts`, or another program, with `environment` and nothing else but PATH, patience with Redis and no journal; with no more than so
 * many open files, where that is said.
 */
export function spawnGateway(
  environment: Record<string, string>,
  descriptors?: number,
  command = [process.execPath, MAIN],
): GatewayProcess {
  const limited = ['sh', '-c', `ulimit -n ${descriptors} && exec "$0" "$@"`, ...command]
  const prefix = deathSignalPrefix('SIGKILL')
  const child = Bun.spawn([...prefix, ...(descriptors === undefined ? command : limited)], {
    env: { ...BARE_ENVIRONMENT, ...PATIENT, ...NO_JOURNAL, HOST: '127.0.0.1', ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    void (async () => {
      for await (const chunk of stream) text += new TextDecoder().decode(chunk)
    })()
  }
  return {
    pid: child.pid,
    output: () => text,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    kill: (signal) => child.kill(signal),
    async exited() {
      await child.exited
      return child.exitCode
    },
  }
}

/** Waits for the banner and returns the address it names. */
export async function addressOf(gateway: GatewayProcess): Promise<string> {
  const bannerOrEnd = () => /ready at (http:\/\/\S+)/.exec(gateway.output()) ?? (gateway.hasExited() && { 1: '' })
  const match = await until(bannerOrEnd, 'the banner').catch(() => ({ 1: '' }))
  if (!match[1]) throw new Error(`no banner in: ${gateway.output()}`)
  return match[1]
}

/** The demo account's key, which the banner of a first start shows. */
export function demoKeyOf(gateway: GatewayProcess): string {
  const key = /svc-[0-9A-Za-z]{36}/.exec(gateway.output())?.[0]
  if (!key) throw new Error(`no key in: ${gateway.output()}`)
  return key
}
