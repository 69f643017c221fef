/**
 * `bun run streams [seed] [count]`: the large form. Thousands of random streams (3,000 where no count is given), each recorded one, then
 * bursts of a hundred at once; the seed, by default a random one, is printed and repeats a run. Ends with 1 where a client was told
 * anything else than its provider said.
 */
import { stopStores } from '@test/support/stores'
import { runBurst } from './burst'
import { manyCases } from './cases'
import { judge } from './judge'
import { startWorld } from './world'

const BURSTS = 3

function write(line: string): void {
  process.stdout.write(`${line}\n`)
}

const [seed = 0, count = 0] = [process.argv[2] ?? Math.floor(Math.random() * 2 ** 31), process.argv[3] ?? 3_000].map(
  Number,
)
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(count)) {
  write('Usage: bun run streams [seed] [count]')
  process.exit(2)
}
write(`seed ${seed}, ${count} streams`)
const world = await startWorld()
const faults = await judge(world, manyCases(seed, count))
write(`${world.besides()} were at two providers at once`)
await world.stop()
for (let round = 0; round < BURSTS; round++) {
  faults.push(...(await runBurst({ seed: seed + round, streams: 100, pieces: 1_000 })))
}
await stopStores()
for (const fault of faults) write(`FAULT ${fault}`)
write(faults.length === 0 ? `clean (seed ${seed})` : `${faults.length} faults (seed ${seed})`)
process.exit(faults.length === 0 ? 0 : 1)
