/** Reads the catalogue file again while the gateway runs: with the checks of a start, and a check for changes that need a restart. */
import { type CatalogResult, loadCatalog } from '@/catalog/catalog'
import { hashCatalog } from '@/catalog/changes'
import type { Catalog } from '@/catalog/types'
import type { Fault } from '@/lib/fault'

export type CatalogReading =
  | { kind: 'loaded'; catalog: Catalog /** See {@link CatalogFile.hashOf}. */; hash: string }
  | { kind: 'refused'; faults: Fault[] }

export interface CatalogFile {
  read(): Promise<CatalogReading>
  /** The same hash for catalogues with the same offers, prices and keys. */
  hashOf(catalog: Catalog): string
}

type CatalogFileOptions = {
  path: string
  environment: Record<string, string | undefined>
  service: string
  /** The sandbox's address, if answers have been simulated since the start; undefined if they are real. */
  sandboxBaseUrl: string | undefined
}

export function createCatalogFile(options: CatalogFileOptions): CatalogFile {
  const { path, environment, sandboxBaseUrl } = options
  const hashOf = (catalog: Catalog) => hashCatalog(catalog, sandboxBaseUrl !== undefined)
  return {
    hashOf,
    async read() {
      const text = await Bun.file(path)
        .text()
        .catch(() => undefined)
      if (text === undefined) return refuse([{ place: 'CATALOG', message: `cannot read ${path}` }])
      const result = loadCatalog(text, environment, sandboxBaseUrl === undefined ? {} : { sandboxBaseUrl })
      const faults = faultsOf(result, options)
      if (result.kind !== 'loaded' || faults.length > 0) return refuse(faults)
      return { kind: 'loaded', catalog: result.catalog, hash: hashOf(result.catalog) }
    },
  }
}

function refuse(faults: Fault[]): CatalogReading {
  return { kind: 'refused', faults }
}

/** Faults for changes that need a restart, because customers' keys or free credit already depend on the current values. */
function faultsOf(result: CatalogResult, { service, sandboxBaseUrl }: CatalogFileOptions): Fault[] {
  if (result.kind === 'faulty') return result.faults
  if (result.kind === 'no_keys') {
    return [{ place: 'providers', message: 'no provider has a key, and simulated answers need a restart' }]
  }
  const faults: Fault[] = []
  if (result.catalog.service !== service) {
    faults.push({ place: 'service', message: `is ${service} in every key of a customer; another one needs a restart` })
  }
  if (sandboxBaseUrl !== undefined && !result.isSandboxed) {
    faults.push({
      place: 'providers',
      message: 'a provider has a key, and this gateway simulates answers: real ones need a restart',
    })
  }
  return faults
}
