/**
 * The entry of `bun run bench`: this gateway beside others in one run on one machine, or with `--stages` the owners of each
 * microsecond of one request. Prints tables, writes raw figures and plots, and compares with what was committed.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { compareServers } from './compare'
import { parseOptions } from './options'
import { type Baseline, baselineOf, compare } from './report/baseline'
import { standings } from './report/goals'
import { comparisonTable, markdownOf, publishedOf } from './report/markdown'
import { drawPlot, PLOTS } from './report/plot'
import { publish } from './report/publish'
import { failingScenarios, OURS, type Results } from './report/results'
import { reportStages } from './stages/report'

const ROOT = join(import.meta.dir, '..')
/** Git leaves it alone: what is kept of a run is kept on purpose, with `--publish` or `--baseline`. */
const OUTPUT = join(ROOT, '.cache', 'bench')
const BASELINE = join(import.meta.dir, 'baseline.json')
const BUSY_PERCENT = 5
const STAGE_ROUNDS = 5

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args)
  if (typeof options === 'string') {
    say(options)
    return 2
  }
  if (options.isStages) return (await reportStages(options.rounds ?? STAGE_ROUNDS, say)) || !options.isChecking ? 0 : 1
  const results = await compareServers(options, say)
  const reached = standings(results)
  const markdown = markdownOf(results, reached)
  say(`\n${markdown}\n`)
  await writeOutput(results, markdown)
  say(`Raw figures, tables and plots: ${OUTPUT}`)
  if (results.machine.othersPercent > BUSY_PERCENT) say('The machine had other work to do: do not quote these figures.')
  if (options.isPublishing) await publish(results, publishedOf(results, reached), ROOT)
  if (options.isBaseline)
    await Bun.write(BASELINE, `${JSON.stringify(baselineOf(reached, results.machine), null, 2)}\n`)
  const failing = failingScenarios(results)
  if (failing.length > 0) say(`Void: answers of ${OURS} were refused, cut or lost in ${failing.join(', ')}.`)
  const isWorse = options.isChecking && (await check(reached)) !== 0
  return isWorse || failing.length > 0 ? 1 : 0
}

async function writeOutput(results: Results, markdown: string): Promise<void> {
  await mkdir(OUTPUT, { recursive: true })
  await Bun.write(join(OUTPUT, 'bench.json'), `${JSON.stringify(results, null, 1)}\n`)
  await Bun.write(join(OUTPUT, 'bench.md'), `${markdown}\n`)
  for (const plot of PLOTS) {
    const drawing = drawPlot(results, plot)
    const path = join(OUTPUT, plot.file)
    await rm(path, { force: true })
    if (drawing !== undefined) await Bun.write(path, drawing)
  }
}

/** Says how each ratio stands to the committed one; 1 where one is worse. */
async function check(reached: ReturnType<typeof standings>): Promise<number> {
  const file = Bun.file(BASELINE)
  if (!(await file.exists())) {
    say('There is nothing to compare with: run with --baseline on a quiet machine, and commit bench/baseline.json.')
    return 1
  }
  const comparisons = compare((await file.json()) as Baseline, reached)
  say(`\n${comparisonTable(comparisons)}\n`)
  return comparisons.some(({ isWorse }) => isWorse) ? 1 : 0
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
process.exit(await main(process.argv.slice(2)))
