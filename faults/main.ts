/** The entry of `bun run faults`: plays every fault, prints the table, and fails where a promise is broken. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stopStores } from '@test/support/stores'
import { FAULTS } from './cases/index'
import { parseOptions } from './options'
import { details, isWhole, TABLE_HEAD, tableRow } from './report'
import { runFaults } from './run'

/** Of one round, on two cores; a run that takes longer is a failure of its own. */
const TOTAL_LIMIT_MS = 15 * 60_000

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args)
  if (typeof options === 'string') {
    say(options)
    return 2
  }
  if (options.isListing) {
    for (const { id, title, promise } of FAULTS) say(`${id}  ${title}\n    ${promise}`)
    return 0
  }
  const { only, isQuick, rounds, seed } = options
  const faults = FAULTS.filter((fault) => (only ? only.has(fault.id.toUpperCase()) : !isQuick || fault.isQuick))
  const chosen = faults.flatMap((fault) => Array.from({ length: rounds }, () => fault))
  if (chosen.length === 0) {
    say('There is no such fault; --list names them.')
    return 2
  }
  const folder = await mkdtemp(join(tmpdir(), 'svc-gateway-faults-'))
  const started = performance.now()
  say(`seed ${seed}, ${chosen.length} faults\n`)
  say(TABLE_HEAD)
  try {
    const results = await runFaults(chosen, {
      ...{ folder, seed, isQuick },
      onResult(result) {
        say(tableRow(result))
        for (const line of details(result)) sayAside(line)
      },
    })
    const seconds = Math.round((performance.now() - started) / 1000)
    const broken = results.filter((result) => !isWhole(result)).map(({ fault }) => fault.id)
    say(
      `\n${results.length} faults in ${seconds} s; ${broken.length === 0 ? 'every promise held' : `broken: ${broken.join(', ')}`}`,
    )
    const isLate = performance.now() - started > TOTAL_LIMIT_MS * rounds
    if (isLate) say(`over the limit of ${(TOTAL_LIMIT_MS * rounds) / 60_000} minutes`)
    return broken.length > 0 || isLate ? 1 : 0
  } finally {
    await stopStores()
    if (options.isKeeping) say(`data and logs: ${folder}`)
    else await rm(folder, { recursive: true, force: true })
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function sayAside(line: string): void {
  process.stderr.write(`${line}\n`)
}

process.exit(await main(process.argv.slice(2)))
