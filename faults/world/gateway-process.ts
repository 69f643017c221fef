/** One gateway as operators run it: a process of its own, told everything by its environment, watched from outside. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { until } from '@test/support/until'
import { deathSignalPrefix } from '@/boot/embedded/process'

export interface GatewayProcess {
  readonly name: string
  /** Base address of the latest start. */
  readonly url: string
  readonly pid: number
  /** Starts it, with `extra` environment this time, and waits until it serves. */
  start(extra?: Record<string, string>): Promise<void>
  isRunning(): boolean
  signal(name: NodeJS.Signals): void
  /** The exit code of the latest start; null where a signal ended it. */
  exited(): Promise<number | null>
  /** Everything it has written since the suite began, over all its starts. */
  output(): string
  /** Lines of the latest start that hold `text`. */
  lines(text: string): string[]
  /** Resident memory in bytes, open files, and processor time used since its start. */
  footprint(): Promise<Footprint>
}

export type Footprint = { residentBytes: number; openFiles: number; cpuSeconds: number }

const MAIN = join(import.meta.dir, '..', '..', 'src', 'main.ts')
/** Linux counts processor time in these, for every program. */
const TICKS_PER_SECOND = 100

/** Prepares a gateway; `preload` is a file that the process runs first. */
export function createGatewayProcess(
  name: string,
  environment: Record<string, string>,
  preload?: string,
): GatewayProcess {
  let child: Bun.Subprocess<'ignore', 'pipe', 'pipe'> | undefined
  let earlier = ''
  let latest = ''
  /** Of the latest start: whole lines, and where in `latest` the next one begins. They are asked for many times a second. */
  let whole: string[] = []
  let wholeChars = 0
  let url = ''

  async function collect(stream: ReadableStream<Uint8Array>, own: Bun.Subprocess): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      const text = decoder.decode(chunk, { stream: true })
      if (own === child) latest += text
      else earlier += text
    }
  }

  function running(): Bun.Subprocess<'ignore', 'pipe', 'pipe'> {
    if (!child) throw new Error(`${name} was never started`)
    return child
  }

  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null
  function lines(text: string): string[] {
    const end = latest.lastIndexOf('\n') + 1
    if (end > wholeChars) for (const line of latest.slice(wholeChars, end - 1).split('\n')) whole.push(line)
    wholeChars = Math.max(wholeChars, end)
    return whole.filter((line) => line.includes(text))
  }

  return {
    name,
    get url() {
      return url
    },
    get pid() {
      return running().pid
    },
    async start(extra = {}) {
      earlier += latest
      latest = ''
      whole = []
      wholeChars = 0
      const command = [
        ...deathSignalPrefix('SIGKILL'),
        process.execPath,
        ...(preload === undefined ? [] : ['--preload', preload]),
        MAIN,
      ]
      child = Bun.spawn(command, {
        env: { ...BARE_ENVIRONMENT, ...environment, ...extra },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      void collect(child.stdout, child)
      void collect(child.stderr, child)
      const ready = () => /ready at (http:\/\/\S+)/.exec(latest)?.[1] ?? (!isRunning() && 'gone')
      const address = await until(ready, `${name} to start`)
      if (address === 'gone') throw new Error(`${name} ended at its start: ${latest}`)
      url = address.replace('localhost', '127.0.0.1')
    },
    isRunning,
    signal: (signal) => running().kill(signal),
    async exited() {
      await running().exited
      return running().exitCode
    },
    output: () => earlier + latest,
    lines,
    async footprint() {
      const status = await Bun.file(`/proc/${running().pid}/status`).text()
      const residentKib = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0)
      const files = await readdir(`/proc/${running().pid}/fd`)
      const [, times = ''] = (await Bun.file(`/proc/${running().pid}/stat`).text()).split(') ')
      const [userTicks, systemTicks] = times.split(' ').slice(11, 13).map(Number)
      const cpuSeconds = ((userTicks ?? 0) + (systemTicks ?? 0)) / TICKS_PER_SECOND
      return { residentBytes: residentKib * 1024, openFiles: files.length, cpuSeconds }
    },
  }
}
