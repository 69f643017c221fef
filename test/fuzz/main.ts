/**
 * `bun run fuzz [seed]`: attacks a gateway of its own with generated input, and ends with 1 where anything is wrong.
 * With `--neighbour` or `--body` only those cases whose names hold what follows.
 */
import { parseArgs } from 'node:util'
import { runFuzz, runOne } from './run'

const USAGE = `Usage: bun run fuzz [seed]
       bun run fuzz --neighbour 'bodies of 18 MiB'   a part of the name of one, or of a resource as src/limits/shared-resources.ts calls it
       bun run fuzz --body '/v1/responses, names'    a part of its path and name`

function write(line: string): void {
  process.stdout.write(`${line}\n`)
}

function readArguments() {
  try {
    const options = { neighbour: { type: 'string' }, body: { type: 'string' } } as const
    const { values, positionals } = parseArgs({ args: process.argv.slice(2), options, allowPositionals: true })
    const seed = Number(positionals[0] ?? Math.floor(Math.random() * 2 ** 31))
    return Number.isSafeInteger(seed) && positionals.length < 2 ? { seed, ...values } : undefined
  } catch {
    return undefined
  }
}

const asked = readArguments()
if (!asked) {
  write(USAGE)
  process.exit(2)
}
const { seed, neighbour, body } = asked
write(`seed ${seed}`)
const bombs = { depth: 200_000, bytes: 19 * 1024 * 1024 }
const faults =
  neighbour === undefined && body === undefined
    ? await runFuzz({ seed, probes: 3_000, bombs, everyBomb: 3, neighbours: true, note: write })
    : await runOne({ neighbour, body }, write)
for (const fault of faults) write(`FAULT ${fault}`)
write(faults.length === 0 ? `clean (seed ${seed})` : `${faults.length} faults (seed ${seed})`)
process.exit(faults.length === 0 ? 0 : 1)
