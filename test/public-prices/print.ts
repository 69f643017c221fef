/**
 * The command `bun run catalog:check`: compares the catalogue file named, config/catalog.json by default, with public prices as
 * of today, and prints what differs. Exits with 1 where something is sold at a loss, or has vanished or is about to.
 */
import { join } from 'node:path'
import { compareCatalog } from './compare'
import { loadWithAllKeys } from './load'

const path = process.argv[2] ?? join(import.meta.dir, '../../config/catalog.json')
const catalog = await loadWithAllKeys(path)
const differences = compareCatalog(catalog, new Date().toISOString().slice(0, 10))
for (const { model, target, text, isFault } of differences) {
  process.stdout.write(`${isFault ? 'FAULT' : 'note '} ${model} (${target}) ${text}\n`)
}
const faults = differences.filter(({ isFault }) => isFault).length
process.stdout.write(`${catalog.models.size} models, ${differences.length} differences, ${faults} of them faults\n`)
process.exit(faults === 0 ? 0 : 1)
