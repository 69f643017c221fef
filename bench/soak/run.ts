/** One soak from its stores to its verdicts: starts everything, lets the load process work, looks at all of it, and drains. */
import { cpus } from 'node:os'
import { join } from 'node:path'
import { linesOf } from '@bench/load/lines'
import { plainEnvironment, startProgram, stopOf, withMoreFiles } from '@bench/machine/program'
import { type BenchStores, openStores } from '@bench/machine/stores'
import { startMockUpstream } from '@bench/machine/upstream'
import { GATEWAY_COMMAND, gatewayEnvironment } from '@bench/peers/gateway'
import { freePort } from '@/boot/embedded/free-port'
import { withDeadline } from '@/lib/deadline'
import { checkBooks } from './books'
import { soakCatalog } from './catalog'
import type { SoakJob, SoakReport } from './load'
import type { SoakResults } from './results'
import { createGatewayProbe, type GatewayProbe, readStores } from './sample'
import type { SoakKeys } from './traffic'

/** What a run is told, and whom it tells: `onSample` after every look, so that what was seen is kept if the run is ended. */
type SoakPlan = {
  folder: string
  minutes: number
  ratePerSecond: number
  say(line: string): void
  onSample(results: SoakResults): Promise<void>
}

type Load = { pid: number; latest(): SoakReport | undefined; end(): Promise<void>; stop(): Promise<void> }

const CUSTOMERS = 400
const POOR_CUSTOMERS = 20
/** Enough for nothing. */
const POOR_USD = 1e-7
const SAMPLE_MS = 10_000
const READY_MS = 60_000
const DRAIN_MS = 120_000
const SETTLE_MS = 30_000
const POLL_MS = 500
const MS_PER_MINUTE = 60_000
const LOAD_MAIN = join(import.meta.dir, 'load.ts')

/** Runs it. Ends what it started, whatever happens. */
export async function runSoak(plan: SoakPlan): Promise<SoakResults> {
  const { folder, say } = plan
  say('starting stores, upstream and gateway')
  const [stores, upstream] = await Promise.all([openStores(folder, CUSTOMERS), startMockUpstream()])
  const [catalog, port] = [join(folder, 'catalog.json'), await freePort()]
  await Bun.write(catalog, soakCatalog(upstream.port))
  const gateway = startProgram({
    command: GATEWAY_COMMAND,
    environment: gatewayEnvironment({ folder, stores, catalog }, port),
    logPath: join(folder, 'gateway.log'),
  })
  const probe = createGatewayProbe(port, gateway.pid)
  let load: Load | undefined
  try {
    await untilReady(port)
    const keys = await makeKeys(stores)
    const results = await startResults(plan, keys, await probe.read())
    load = startLoad({ port, keys, ratePerSecond: plan.ratePerSecond })
    say(`gateway process ${gateway.pid}, load process ${load.pid}`)
    await watch(plan, results, { stores, probe, load })
    say('draining')
    await load.end()
    takeReport(results, load)
    results.isDrained = (await hasDrained(probe)) && load.latest()?.isLast === true && load.latest()?.underWay === 0
    // What the gateway keeps open for later goes with the upstream.
    await upstream.stop()
    results.descriptors.after = await settledDescriptors(probe, results.descriptors.before)
    say('checking the books')
    results.books = await checkBooks(stores)
    return results
  } finally {
    await load?.stop()
    await gateway.stop()
    await upstream.stop()
    await stores.close()
  }
}

async function makeKeys({ keys, bank }: BenchStores): Promise<SoakKeys> {
  const poor: string[] = []
  while (poor.length < POOR_CUSTOMERS) poor.push((await bank.customer(POOR_USD)).key)
  return { rich: keys, poor, unknown: [`svc-${'0'.repeat(40)}`, ...keys.slice(0, 10).map((key) => `${key}x`)] }
}

async function startResults(
  { minutes, ratePerSecond }: SoakPlan,
  keys: SoakKeys,
  { descriptors }: { descriptors: number },
): Promise<SoakResults> {
  const head = Bun.spawn(['git', 'rev-parse', '--short', 'HEAD'], { cwd: import.meta.dir, stdout: 'pipe' })
  return {
    ...{ at: new Date().toISOString(), commit: (await new Response(head.stdout).text()).trim() },
    ...{ minutes, ratePerSecond, keys: keys.rich.length, bun: Bun.version },
    processor: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    ...{ samples: [], endings: {}, unexpected: {}, descriptors: { before: descriptors, after: 0 } },
    ...{ isDrained: false, books: undefined },
  }
}

/** Looks at everything every ten seconds until the time is up. */
async function watch(
  plan: SoakPlan,
  results: SoakResults,
  { stores, probe, load }: { stores: BenchStores; probe: GatewayProbe; load: Load },
): Promise<void> {
  const startedMs = performance.now()
  const endMs = startedMs + plan.minutes * MS_PER_MINUTE
  while (performance.now() < endMs) {
    await Bun.sleep(Math.min(SAMPLE_MS, Math.max(0, endMs - performance.now())))
    const [gateway, state] = await Promise.all([probe.read(), readStores(stores)])
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    const sent = takeReport(results, load)
    results.samples.push({ seconds, ...gateway, ...state, underWay: load.latest()?.underWay ?? 0, sent })
    await plan.onSample(results)
  }
}

/** Takes over what the load process told last; how many clients there were. */
function takeReport(results: SoakResults, load: Load): number {
  const report = load.latest()
  if (!report) return 0
  results.endings = report.endings
  results.unexpected = report.unexpected
  return Object.values(report.endings)
    .flatMap((byEnding) => Object.values(byEnding))
    .reduce((sum, count) => sum + count, report.underWay)
}

function startLoad(job: SoakJob): Load {
  const child = Bun.spawn(withMoreFiles([process.execPath, LOAD_MAIN]), {
    env: plainEnvironment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let latest: SoakReport | undefined
  const over = (async () => {
    for await (const line of linesOf(child.stdout)) latest = JSON.parse(line) as SoakReport
  })()
  child.stdin.write(`${JSON.stringify(job)}\n`)
  child.stdin.flush()
  return {
    pid: child.pid,
    latest: () => latest,
    async end() {
      child.stdin.write('end\n')
      child.stdin.flush()
      await withDeadline(over, DRAIN_MS, () => undefined)
    },
    stop: stopOf(child),
  }
}

async function untilReady(port: number): Promise<void> {
  const isReady = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    await response?.arrayBuffer()
    return response?.ok === true
  }
  if (!(await within(READY_MS, isReady))) throw new Error('the gateway did not become ready')
}

/** Whether nothing is under way in the gateway within a while. */
function hasDrained(probe: GatewayProbe): Promise<boolean> {
  return within(SETTLE_MS, async () => {
    const { openStreams, openHolds, unacknowledged, unwrittenRecords } = await probe.read()
    return openStreams + openHolds + unacknowledged + unwrittenRecords === 0
  })
}

/** Descriptors when they have gone back to `before`, or after a while. */
async function settledDescriptors(probe: GatewayProbe, before: number): Promise<number> {
  let now = 0
  await within(SETTLE_MS, async () => {
    now = (await probe.read()).descriptors
    return now <= before
  })
  return now
}

async function within(patienceMs: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const deadlineMs = performance.now() + patienceMs
  while (performance.now() < deadlineMs) {
    if (await isSo()) return true
    await Bun.sleep(POLL_MS)
  }
  return false
}
