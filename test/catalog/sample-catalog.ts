/** A small sound catalogue file, and a way to spoil it in one place. */
import { type CatalogResult, loadCatalog } from '@/catalog/catalog'
import type { Catalog } from '@/catalog/types'
import { formatFaults } from '@/lib/fault'

export type Json = { [key: string]: Json | undefined } | Json[] | string | number | boolean | null

/** A variable as the file writes it. */
export const variable = (name: string) => `\${${name}}`

export const SAMPLE = {
  service: 'svc',
  providers: {
    provider1: { format: 'chat-completions', baseUrl: 'https://one.example/v1', keys: ['key-one'] },
    provider2: { format: 'messages', baseUrl: 'https://two.example', keys: [variable('PROVIDER2_API_KEY')] },
    provider3: {
      format: 'generate-content',
      baseUrl: variable('PROVIDER3_BASE_URL'),
      apiVersion: 'v1beta',
      keys: [variable('PROVIDER3_API_KEY')],
    },
  },
  models: [
    {
      id: 'svc/alpha',
      name: 'Alpha',
      created: 1_760_000_000,
      ownedBy: 'provider1',
      targets: [
        { provider: 'provider1', model: 'alpha-2026-01' },
        { provider: 'provider2', model: 'alpha-two' },
      ],
      pricing: {
        inputPer1mTokens: 2.5,
        outputPer1mTokens: 10,
        cacheReadPer1mTokens: 0.25,
        cacheWritePer1mTokens: 3.125,
      },
      contextLength: 256_000,
      maxOutputTokens: 32_768,
      capabilities: ['tools', 'images'],
      fallback: ['svc/beta'],
    },
    {
      id: 'svc/beta',
      name: 'Beta',
      created: 1_750_000_000,
      ownedBy: 'provider2',
      targets: [{ provider: 'provider2', model: 'beta-2' }],
      pricing: { inputPer1mTokens: 1, outputPer1mTokens: 5 },
      contextLength: 200_000,
      maxOutputTokens: 8192,
      fallback: ['svc/alpha'],
    },
  ],
  tiers: [
    {
      id: 'auto-smart',
      name: 'Auto Smart',
      contextLength: 128_000,
      strategy: 'smart',
      candidates: ['svc/beta', 'svc/alpha'],
    },
  ],
  limits: { requestsPerMinute: 600, tokensPerMinute: 2_000_000, concurrency: 200 },
}

/** Environment under which every provider of the sample has a key. */
export const ALL_KEYS = {
  PROVIDER2_API_KEY: 'key-two',
  PROVIDER3_API_KEY: 'key-three',
  PROVIDER3_BASE_URL: 'https://three.example/',
}

/** The sample with `value` at the dotted `place`; undefined removes what is there. */
export function spoil(place: string, value: Json | undefined): string {
  const file = structuredClone(SAMPLE) as unknown as Record<string, unknown>
  const keys = place.split('.')
  const last = keys.pop() ?? ''
  const parent = keys.reduce<Record<string, unknown>>((part, key) => part[key] as Record<string, unknown>, file)
  if (value === undefined) delete parent[last]
  else Object.defineProperty(parent, last, { value, enumerable: true, configurable: true, writable: true })
  return JSON.stringify(file)
}

/** Loads `text` and expects it to be sound. */
export function load(text: string, environment: Record<string, string | undefined> = ALL_KEYS): Catalog {
  const result = loadCatalog(text, environment)
  if (result.kind === 'loaded') return result.catalog
  throw new Error(result.kind === 'faulty' ? formatFaults('faulty', result.faults) : result.kind)
}

/** The faults of `text`, one line each. */
export function faultsOf(text: string, environment: Record<string, string | undefined> = ALL_KEYS): string[] {
  const result: CatalogResult = loadCatalog(text, environment)
  return result.kind === 'faulty' ? result.faults.map(({ place, message }) => `${place}: ${message}`) : []
}
