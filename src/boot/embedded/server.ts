/** Runs an embedded server as a child process: claims its data directory, stops an orphan, launches, waits until ready, stops. */
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { withDeadline } from '@/lib/deadline'
import { once } from '@/lib/once'
import { type Claim, claimDirectory } from './claim'
import { EmbeddedServerError } from './error'
import { freePort } from './free-port'
import { findServerProcesses, stopProcesses } from './orphans'
import { type ServerProcess, spawnServer } from './process'

/** A running server. `isOurs`: this process started it. `stop` does nothing to another gateway's server. */
export type EmbeddedServer = { url: string; pid: number; isOurs: boolean; stop(): Promise<void> }

export type Progress = (line: string) => void

export type ServerKind = {
  name: string
  executables: readonly string[]
  stopSignal: 'SIGTERM' | 'SIGINT'
}

/** One attempt to start: the command, and a readiness check, which runs every 20 ms. */
export type Launch = {
  command: readonly string[]
  environment: Readonly<Record<string, string>>
  workingDirectory: string
  url: string
  isReady(pid: number): Promise<boolean>
}

/** `attach`: if another gateway runs a server on these data, uses that server; without it, refuses. `port` fixes the port. */
type RunOptions = { directory: string; progress: Progress; attach: boolean; port: number | undefined }

const STATE_FILE = 'server.json'
const CLAIM_WAIT_MS = 10_000
/** The wait for a gateway that is stopping. Without open requests, it stops faster. */
const STOPPING_WAIT_MS = 700
const READY_TIMEOUT_MS = 300_000
const READY_POLL_MS = 20
const READY_REMINDER_MS = 5_000
const STOP_TIMEOUT_MS = 20_000
const PORT_ATTEMPTS = 3
const PORT_TAKEN = /address already in use|could not bind|could not create any TCP/i
const TELLING_LINE = /fatal|error|panic|can't|could not|failed/i

/** Starts the server. `prepare` runs once while `directory` is locked, and returns how to launch. Throws {@link EmbeddedServerError}. */
export async function runServer(
  kind: ServerKind,
  options: RunOptions,
  prepare: () => Promise<(port: number) => Promise<Launch>>,
): Promise<EmbeddedServer> {
  const { directory } = options
  await makeDirectory(directory)
  const claim = await claimFor(kind, options)
  if (!claim) {
    const shared = options.attach ? await waitForSharedServer(kind, directory) : undefined
    if (shared) return shared
    throw new EmbeddedServerError(
      `DATA_DIR: ${dirname(directory)} is in use by another running gateway: stop that one, or give this one its own`,
    )
  }
  try {
    await rm(join(directory, STATE_FILE), { force: true })
    const orphans = await findServerProcesses(directory, kind.executables)
    if (orphans.length > 0) options.progress(`Replacing the ${kind.name} that an earlier gateway left behind`)
    await stopProcesses(orphans, kind.stopSignal, STOP_TIMEOUT_MS)
    const launchOn = await prepare()
    return await launch(kind, options, claim, launchOn)
  } catch (error) {
    claim.release()
    throw error
  }
}

/** Claims the folder. Waits for a stopping gateway to release it, but not long if a running gateway shares its server. */
async function claimFor(kind: ServerKind, { directory, attach }: RunOptions): Promise<Claim | undefined> {
  const claim = await claimDirectory(directory, attach ? 0 : STOPPING_WAIT_MS)
  if (claim || attach || (await findSharedServer(kind, directory))) return claim
  return await claimDirectory(directory, CLAIM_WAIT_MS)
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true })
    await chmod(directory, 0o711)
  } catch (cause) {
    throw new EmbeddedServerError(`Cannot write to ${directory}: ${String(cause)}`)
  }
}

async function waitForSharedServer(kind: ServerKind, directory: string): Promise<EmbeddedServer | undefined> {
  const deadline = performance.now() + CLAIM_WAIT_MS
  while (performance.now() < deadline) {
    const shared = await findSharedServer(kind, directory)
    if (shared) return shared
    await Bun.sleep(READY_POLL_MS)
  }
  return undefined
}

/** The server of a running gateway. While that gateway starts, the file may still describe an earlier server. */
async function findSharedServer(kind: ServerKind, directory: string): Promise<EmbeddedServer | undefined> {
  const shared = await readSharedServer(directory)
  if (!shared || !(await findServerProcesses(directory, kind.executables)).includes(shared.pid)) return undefined
  return shared
}

async function readSharedServer(directory: string): Promise<EmbeddedServer | undefined> {
  try {
    const { url, pid } = JSON.parse(await readFile(join(directory, STATE_FILE), 'utf8'))
    if (typeof url !== 'string' || typeof pid !== 'number') return undefined
    return { url, pid, isOurs: false, stop: () => Promise.resolve() }
  } catch {
    return undefined
  }
}

async function launch(
  kind: ServerKind,
  options: RunOptions,
  claim: Claim,
  launchOn: (port: number) => Promise<Launch>,
): Promise<EmbeddedServer> {
  const logPath = join(options.directory, 'server.log')
  const statePath = join(options.directory, STATE_FILE)
  for (let attempt = 1; ; attempt++) {
    const plan = await launchOn(options.port ?? (await freePort()))
    await rename(logPath, join(options.directory, 'server.previous.log')).catch(() => undefined)
    const server = spawnServer({ ...plan, logPath })
    if (await waitUntilReady(kind, options.progress, plan, server)) {
      await writeFile(statePath, JSON.stringify({ url: plan.url, pid: server.pid }), { mode: 0o600 })
      let isWanted = true
      void server.exited.then(() => {
        if (isWanted) options.progress(`${kind.name} has ended by itself: see ${logPath}, then start again`)
      })
      const stop = once(async () => {
        isWanted = false
        await rm(statePath, { force: true })
        await stopServer(kind, server)
        claim.release()
      })
      return { url: plan.url, pid: server.pid, isOurs: true, stop }
    }
    const log = await readFile(logPath, 'utf8').catch(() => '')
    if (options.port === undefined && attempt < PORT_ATTEMPTS && PORT_TAKEN.test(log)) continue
    const lines = log.split('\n').filter((line) => line.trim() !== '')
    const reason = lines.find((line) => TELLING_LINE.test(line)) ?? lines.at(-1) ?? 'it wrote no log'
    throw new EmbeddedServerError(`${kind.name} did not start: ${reason.trim()} (full log: ${logPath})`)
  }
}

async function waitUntilReady(
  kind: ServerKind,
  progress: Progress,
  plan: Launch,
  server: ServerProcess,
): Promise<boolean> {
  const started = performance.now()
  let reminders = 1
  while (!server.hasExited()) {
    if (await plan.isReady(server.pid)) return true
    const elapsed = performance.now() - started
    if (elapsed > reminders * READY_REMINDER_MS) {
      progress(`${kind.name} is still loading its data (${Math.round(elapsed / 1000)} s)`)
      reminders++
    }
    if (elapsed > READY_TIMEOUT_MS) {
      await stopServer(kind, server)
      return false
    }
    await withDeadline(server.exited, READY_POLL_MS, () => undefined)
  }
  return false
}

async function stopServer(kind: ServerKind, server: ServerProcess): Promise<void> {
  server.signal(kind.stopSignal)
  await withDeadline(server.exited, STOP_TIMEOUT_MS, () => {
    server.signal('SIGKILL')
    return server.exited
  })
}
