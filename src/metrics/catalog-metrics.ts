/** Which catalogue a process uses, since when, and what became of the times that it was to be read again. */
import { Counter, Gauge, type Registry } from 'prom-client'
import type { CatalogState } from '@/catalog/reload/participant'

/** Adds the series. Once per registry. */
export function exposeCatalog(registry: Registry, read: () => CatalogState): void {
  const registers = [registry]
  const info: Gauge = new Gauge({
    name: 'svc_catalog_info',
    help: 'Always 1; `hash` is the same wherever the same is sold at the same prices, with the same provider keys.',
    labelNames: ['hash'],
    registers,
    collect() {
      info.reset()
      info.set({ hash: read().hash }, 1)
    },
  })
  const loaded: Gauge = new Gauge({
    name: 'svc_catalog_loaded_timestamp_seconds',
    help: 'When the catalogue in use was last read, at the start or by a reload.',
    registers,
    collect: () => loaded.set(read().loadedAtMs / 1000),
  })
  const reloads: Counter = new Counter({
    name: 'svc_catalog_reloads_total',
    help: 'Reloads by outcome: taken, refused (the file has faults), abandoned (others were not ready with the same), missed.',
    labelNames: ['outcome'],
    registers,
    collect() {
      reloads.reset()
      for (const [outcome, count] of Object.entries(read().reloads)) reloads.inc({ outcome }, count)
    },
  })
}
