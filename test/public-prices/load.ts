/** A catalogue file as it is with every provider's key set, wherever it is compared without any. */
import { loadCatalog } from '@/catalog/catalog'
import type { Catalog } from '@/catalog/types'
import { formatFaults } from '@/lib/fault'

const REQUIRED_VARIABLE = /\$\{(\w+)(?:\|\w+)?\}/g

/** Reads the catalogue at `path`; every variable without a default gets a made-up value. */
export async function loadWithAllKeys(path: string): Promise<Catalog> {
  const text = await Bun.file(path).text()
  const environment = Object.fromEntries([...text.matchAll(REQUIRED_VARIABLE)].map(([, name = '']) => [name, 'unset']))
  const result = loadCatalog(text, environment)
  if (result.kind === 'loaded') return result.catalog
  throw new Error(result.kind === 'faulty' ? formatFaults(path, result.faults) : `${path}: no provider has a key`)
}
