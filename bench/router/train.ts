/**
 * Trains the router's scorer: `bun run train:router`. Reads the public collections of `bench/router/sources.json`, fits, calibrates
 * on collections that each fit left out, and writes `src/routing/difficulty/weights.bin`: the same bytes whenever it is run.
 */
import { createHash } from 'node:crypto'
import { WEIGHTS_FILE } from '@/routing/difficulty/weights'
import { calibrate } from './calibrate'
import { loadSource } from './corpus'
import type { Example } from './example'
import { fit } from './learn'
import { formatWeights, toWeights } from './quantise'
import { SOURCES } from './sources'
import { trainingSet } from './training-set'

const sources = SOURCES.filter(({ role }) => role === 'training')
const examples: Example[] = []
for (const source of sources) {
  const loaded = await loadSource(source)
  if (loaded.digest !== source.digest) throw new Error(`${source.name} is ${loaded.digest}, not what sources.json says`)
  examples.push(...loaded.examples)
  print(`${source.name.padEnd(22)} ${String(loaded.examples.length).padStart(6)} prompts  ${source.licence}`)
}
const prompts = trainingSet(sources, examples)
const curve = calibrate(prompts)
print(`calibrated on left-out collections: slope ${curve.slope.toFixed(3)}, shift ${curve.shift.toFixed(3)}`)
const bytes = formatWeights(toWeights(fit(prompts), curve))
await Bun.write(WEIGHTS_FILE, bytes)
print(`${prompts.length} prompts, ${bytes.length} bytes, sha256 ${createHash('sha256').update(bytes).digest('hex')}`)

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
