/** The catalogue of a soak: what the benchmark's gateways have, and models at a provider that fails, some with a second target. */
import { catalogText } from '@bench/peers/gateway'
import { FAULTY_MODELS, faultyId, GOOD_MODELS, RESCUED_ID } from './traffic'

type Catalog = { providers: Record<string, object>; models: Record<string, unknown>[] }

/** Short enough that silence ends while its client still waits. */
const TIMEOUTS = { connectMs: 1_000, firstByteMs: 3_000, idleMs: 3_000, totalMs: 30_000 }

/** The file's text. */
export function soakCatalog(upstreamPort: number): string {
  const catalog = JSON.parse(catalogText(upstreamPort, GOOD_MODELS)) as Catalog
  const [common] = catalog.models
  const model = (id: string, targets: { provider: string; model: string }[]) => {
    catalog.models.push({ ...common, id, name: id, targets })
  }
  const faulty = { ...catalog.providers['chat-completions'], timeouts: TIMEOUTS }
  for (const name of FAULTY_MODELS) {
    // Each at a provider of its own, so that one that is shunned takes no other with it.
    catalog.providers[name] = faulty
    model(faultyId(name), [{ provider: name, model: name }])
  }
  catalog.providers.unsteady = faulty
  model(RESCUED_ID, [
    { provider: 'unsteady', model: 'status-503' },
    { provider: 'messages', model: 'json' },
  ])
  return JSON.stringify(catalog)
}
