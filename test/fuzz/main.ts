/** `bun run fuzz [seed]`: attacks a gateway of its own with generated input, and ends with 1 where anything is wrong. */
import { runFuzz } from './run'

function write(line: string): void {
  process.stdout.write(`${line}\n`)
}

const seed = Number(process.argv[2] ?? Math.floor(Math.random() * 2 ** 31))
if (!Number.isSafeInteger(seed)) {
  write('Usage: bun run fuzz [seed]')
  process.exit(2)
}
write(`seed ${seed}`)
const bombs = { depth: 200_000, bytes: 19 * 1024 * 1024 }
const faults = await runFuzz({ seed, probes: 3_000, bombs, everyBomb: 3, neighbours: true, note: write })
for (const fault of faults) write(`FAULT ${fault}`)
write(faults.length === 0 ? `clean (seed ${seed})` : `${faults.length} faults (seed ${seed})`)
process.exit(faults.length === 0 ? 0 : 1)
