/**
 * How the gateway is after hours: `bun run soak` puts it under a bounded load of every kind of client, good and bad, at providers
 * that fail, and looks at memory, descriptors, the event loop and both stores every ten seconds. At the end it drains and checks the
 * books. Prints its report and writes raw figures and a plot to `.cache/bench/soak`; exits with 1 where a promise was broken.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { removeFolder, temporaryFolder } from './machine/folder'
import { parseSoakOptions } from './soak/options'
import { drawSoak } from './soak/plot'
import { publishSoak, soakMarkdown } from './soak/report'
import { type SoakResults, verdictsOf } from './soak/results'
import { runSoak } from './soak/run'

const ROOT = join(import.meta.dir, '..')
const OUTPUT = join(ROOT, '.cache', 'bench', 'soak')
const SAY_EVERY = 30

async function main(args: readonly string[]): Promise<number> {
  const options = parseSoakOptions(args)
  if (typeof options === 'string') {
    say(options)
    return 2
  }
  const { from, minutes, ratePerSecond } = options
  const results =
    from === undefined ? await run(minutes, ratePerSecond) : ((await Bun.file(from).json()) as SoakResults)
  say(`\n${soakMarkdown(results)}\n`)
  if (options.isPublishing) await publishSoak(results, ROOT)
  return verdictsOf(results).every(({ isKept }) => isKept) ? 0 : 1
}

async function run(minutes: number, ratePerSecond: number): Promise<SoakResults> {
  await mkdir(OUTPUT, { recursive: true })
  const folder = await temporaryFolder('svc-gateway-soak-')
  try {
    const results = await runSoak({ folder, minutes, ratePerSecond, say, onSample: keep })
    await write(results)
    say(`Raw figures and plot: ${OUTPUT}`)
    return results
  } finally {
    removeFolder(folder)
  }
}

/** Keeps what was seen so far, in case the run is ended before its time. */
async function keep(results: SoakResults): Promise<void> {
  const latest = results.samples.at(-1)
  if (results.samples.length % SAY_EVERY !== 1 || !latest) return
  await write(results)
  const { seconds, residentBytes, heapBytes, descriptors, openStreams, sent } = latest
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`
  say(
    `  ${seconds} s: ${megabytes(residentBytes)}, heap ${megabytes(heapBytes)}, ${descriptors} descriptors, ${openStreams} streams, ${sent} clients; unexpected: ${JSON.stringify(results.unexpected)}`,
  )
}

async function write(results: SoakResults): Promise<void> {
  await Bun.write(join(OUTPUT, 'soak.json'), `${JSON.stringify(results)}\n`)
  await Bun.write(join(OUTPUT, 'soak.svg'), drawSoak(results))
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
process.exit(await main(process.argv.slice(2)))
