/**
 * `bun run test` and `bun run judges`: runs the test files of its part in parallel, and says in the end what was not tried. Paths
 * after it narrow it down; `--timings` shows what took how long; `--delays` has stores and timers be late at random, by a new seed each
 * time; any other option is handed to `bun test`.
 */
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { IS_BUILD_MACHINE, OUR_ENVIRONMENT } from '@test/support/bare-environment'
import { DELAYS_VARIABLE } from '@test/support/random-delays'
import { FIXED_SEED, SEED_VARIABLE } from '@test/support/seed'
import { GIVEN_POSTGRES, startMigratedPostgres, stopStores } from '@test/support/stores'
import { loadAssets } from '@/boot/dashboard-assets/load'
import { assert } from '@/lib/assert'
import { createLogger } from '@/lib/logger'
import { startOrder } from './longest'
import { missingOf, prepareNeeds } from './needs'
import { selectFiles } from './parts'
import { failedTests, readTimings, skippedTests, timingTable, untriedLines } from './report'
import { processorSeconds, TIMINGS_FILE } from './timings'

/** More than there are processors, since the tests mostly wait; a worker that had the files with large bodies takes this much memory. */
const WORKERS_PER_PROCESSOR = 3
const WORKER_BYTES = 2 * 1024 ** 3
const PROGRESS_MS = 30_000
/** The last of JavaScriptCore's compilers takes a tenth of the processors. Few of these tests run for long enough to gain by it; judges may. */
const WITHOUT_LAST_COMPILER = { BUN_JSC_useFTLJIT: '0' }
const ROOT = join(import.meta.dir, '..', '..')

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

const [part, ...words] = process.argv.slice(2)
assert(part === 'test' || part === 'judges', 'package.json names the part')
const OWN_OPTIONS = ['--timings', '--delays']
const options = words.filter((word) => word.startsWith('-') && !OWN_OPTIONS.includes(word))
const isDelayed = words.includes('--delays')
const wanted = words.filter((word) => !word.startsWith('-'))
const started = performance.now()
const folder = await mkdtemp(join(tmpdir(), 'svc-gateway-run-'))
const timingsPath = join(folder, 'timings')
const reportPath = join(folder, 'report.xml')
const orderPath = join(folder, 'order.json')
await Bun.write(timingsPath, '')

let child: Bun.Subprocess | undefined
/** The files of this run. */
let tried: readonly string[] = []
let failedCount = 0
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, async () => {
    child?.kill('SIGKILL')
    const ended = readTimings(readFileSync(timingsPath, 'utf8'), tried).length
    say(`Stopped: ${ended} files ended, ${failedCount} tests failed, ${tried.length - ended} files were left.`)
    await leave(1)
  })
}
await leave(await run())

async function run(): Promise<number> {
  assert(part === 'test' || part === 'judges', 'package.json names the part')
  const files = selectFiles(part, wanted)
  if (files.length === 0) {
    say(`Nothing of \`bun run ${part}\` lies there; \`bun test ${wanted.join(' ')}\` runs whatever does.`)
    return 1
  }
  if (part === 'judges') await prepareNeeds(files, say)
  const missing = await missingOf(files)
  // The build machine leaves nothing out: what lacks its program fails there.
  tried = IS_BUILD_MACHINE ? files : files.filter((file) => !missing.has(file))
  const seed =
    OUR_ENVIRONMENT[SEED_VARIABLE] ?? (part === 'test' && !isDelayed ? FIXED_SEED : Math.floor(Math.random() * 2 ** 31))
  const workers = Math.max(
    1,
    Math.min(availableParallelism() * WORKERS_PER_PROCESSOR, Math.floor(totalmem() / WORKER_BYTES)),
  )
  say(`${tried.length} files, ${workers} at a time, seed ${seed} (${SEED_VARIABLE}=${seed} repeats it).`)
  const exitCode = tried.length === 0 ? 0 : await runFiles(tried, workers, String(seed))
  const report = await readFile(reportPath, 'utf8').catch(() => '')
  const skipped = skippedTests(report)
  if (words.includes('--timings')) say(timingTable(await timings()))
  // Postgres counts once it has ended.
  await stopStores()
  const { own, children } = processorSeconds()
  say(
    `${seconds()} s, ${Math.round(own + children)} s of the processors; load average ${loadavg()[0]?.toFixed(1)}; seed ${seed}.`,
  )
  // At the end, since the place where it happened may be thousands of lines up.
  for (const failure of failedTests(report)) say(`FAILED: ${failure}`)
  for (const line of untriedLines(part, tried === files ? new Map() : missing, skipped)) say(line)
  return exitCode === 0 && IS_BUILD_MACHINE && skipped.length > 0 ? 1 : exitCode
}

async function runFiles(files: readonly string[], workers: number, seed: string): Promise<number> {
  const postgres = await startMigratedPostgres()
  // In a fresh checkout every worker would build the pages, all at once and for longer than a connection waits.
  await loadAssets(createLogger({ level: 'info', write: () => undefined, service: 'svc' }))
  const command = [process.execPath, '--no-orphans', 'test', `--parallel=${workers}`, '--no-isolate', '--only-failures']
  const report = ['--reporter=junit', `--reporter-outfile=${reportPath}`, `--timings=${orderPath}`]
  await Bun.write(orderPath, startOrder(files))
  child = Bun.spawn([...command, ...report, ...options, ...files.map((file) => `./${file}`)], {
    cwd: ROOT,
    env: {
      ...OUR_ENVIRONMENT,
      [GIVEN_POSTGRES]: JSON.stringify(postgres),
      [TIMINGS_FILE]: timingsPath,
      [SEED_VARIABLE]: seed,
      ...(part === 'test' && WITHOUT_LAST_COMPILER),
      ...(isDelayed && { [DELAYS_VARIABLE]: 'yes' }),
    },
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  const told = passOn(child.stderr as ReadableStream<Uint8Array>)
  const progress = setInterval(async () => {
    say(`${(await timings()).length} of ${files.length} files, ${seconds()} s`)
  }, PROGRESS_MS)
  const exitCode = await child.exited
  await told
  clearInterval(progress)
  return exitCode
}

/** Prints what the tests tell, and counts those that failed. */
async function passOn(output: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder()
  let line = ''
  for await (const bytes of output) {
    process.stderr.write(bytes)
    const lines = (line + decoder.decode(bytes, { stream: true })).split('\n')
    line = lines.pop() ?? ''
    failedCount += lines.filter((one) => one.startsWith('(fail)')).length
  }
}

async function timings() {
  return readTimings(await readFile(timingsPath, 'utf8'), tried)
}

function seconds(): number {
  return Math.round((performance.now() - started) / 1_000)
}

async function leave(exitCode: number): Promise<never> {
  await stopStores()
  await rm(folder, { recursive: true, force: true })
  process.exit(exitCode)
}
