/** Invalid credentials at a start and at a reload. */
import { expect, test } from 'bun:test'
import { SAMPLE } from '@test/catalog/sample-catalog'
import { loadCatalog } from '@/catalog/catalog'
import { createLiveCatalog } from '@/catalog/reload/live-catalog'
import { assert } from '@/lib/assert'
import { createLogger } from '@/lib/logger'
import { warmCredentials } from '@/upstream/warm-credentials'

const CANARY = 'broken-key-canary'
const broken = {
  ...{ preset: 'vertex', project: 'the-project', location: 'global' },
  auth: { type: 'google', credentials: JSON.stringify({ type: 'service_account', private_key: CANARY }) },
}

function load(providers: object) {
  return loadCatalog(JSON.stringify({ ...SAMPLE, providers: { ...SAMPLE.providers, ...providers } }), {})
}

test('E21: an invalid credential is a warning at start and reload, and only turns off its own provider', () => {
  const loaded = load({ broken })
  assert(loaded.kind === 'loaded', 'it is no fault')
  expect(loaded.withoutKey).toContain('broken')
  expect(loaded.catalog.providers.has('broken')).toBe(false)
  expect(loaded.catalog.providers.has('provider1')).toBe(true)
  const lines: string[] = []
  const live = createLiveCatalog(loaded.catalog)
  warmCredentials(live, createLogger({ level: 'info', service: 'svc', write: (line) => lines.push(line) }))
  live.replace(loaded.catalog)
  const warning = { level: 'warn', event: 'provider_not_offered', place: 'providers.broken.auth.credentials' }
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([warning, warning])
  expect(lines.join()).not.toContain(CANARY)
})

test('E21: if a model’s only provider has an invalid credential, the catalogue is refused', () => {
  const models = SAMPLE.models
    .slice(1)
    .map((model) => ({ ...model, fallback: [], targets: [{ provider: 'broken', model: 'm' }] }))
  const file = { service: 'svc', providers: { broken }, models }
  const refused = loadCatalog(JSON.stringify(file), {}, { sandboxBaseUrl: 'http://127.0.0.1:1' })
  expect(refused).toMatchObject({ kind: 'faulty', faults: [{ place: 'providers.broken.auth.credentials' }] })
})
