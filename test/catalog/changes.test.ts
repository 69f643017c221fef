/** Changes of a catalogue: each value of the file can be listed as changed, and changes the hash. */
import { describe, expect, test } from 'bun:test'
import { loadCatalog } from '@/catalog/catalog'
import { changesBetween, hashCatalog } from '@/catalog/changes'
import type { Catalog } from '@/catalog/types'
import { assert } from '@/lib/assert'

const PRICES = { inputPer1mTokens: 1, outputPer1mTokens: 2, cacheReadPer1mTokens: 0.1 }
const COST = { costPer1mInputTokens: 0.5, costPer1mOutputTokens: 1 }

/** Everything that a file can say. */
const FILE = {
  service: 'svc',
  providers: {
    p1: {
      format: 'generate-content',
      baseUrl: 'https://one.example',
      apiVersion: 'v1beta',
      keys: [{ key: 'secret-key-one', weight: 2 }, 'secret-key-two'],
      timeouts: { connectMs: 1_000, firstByteMs: 2_000, idleMs: 2_000, totalMs: 3_000, hedgeMs: 100 },
      maxConcurrency: 10,
      headers: { 'x-organisation': 'secret-organisation' },
      onDisconnect: { policy: 'drain', maxSeconds: 3, maxConcurrent: 4 },
      quirks: ['one-quirk'],
      passFields: ['field'],
    },
    p2: { format: 'messages', baseUrl: 'https://one.example', keys: ['secret-key-three'], betas: ['default'] },
  },
  models: [
    {
      id: 'svc/alpha',
      name: 'Alpha',
      created: 1,
      ownedBy: 'p1',
      targets: [
        { provider: 'p1', model: 'alpha-1', quirks: ['target-quirk'], cost: { ...COST, serviceTiers: { flex: COST } } },
        { provider: 'p1', model: 'alpha-2', serviceTiers: ['flex'] },
      ],
      pricing: {
        ...{ ...PRICES, ...COST },
        steps: [{ aboveInputTokens: 100, ...PRICES, ...COST }],
        serviceTiers: { flex: { ...PRICES, ...COST, steps: [{ aboveInputTokens: 100, ...PRICES, ...COST }] } },
        toolPrices: { google_search: { usd: 0.01, per: 'use', maxUses: 3, tokensPerUse: 200 } },
      },
      contextLength: 1_000,
      maxOutputTokens: 100,
      capabilities: ['tools'],
      fallback: ['svc/beta'],
      quality: 0.5,
      tokenizerSafetyFactor: 1.2,
    },
    {
      id: 'svc/beta',
      name: 'Beta',
      created: 1,
      ownedBy: 'p1',
      targets: [{ provider: 'p1', model: 'beta-1' }],
      pricing: PRICES,
      contextLength: 1_000,
      maxOutputTokens: 100,
      capabilities: [],
    },
  ],
  tiers: [
    {
      id: 'auto-smart',
      name: 'Smart',
      created: 1,
      contextLength: 1_000,
      strategy: 'smart',
      weights: { quality: 0.5 },
      observe: 0.1,
      candidates: ['svc/alpha', 'svc/beta'],
    },
  ],
  limits: { requestsPerMinute: 1, tokensPerMinute: 2, concurrency: 3 },
}

function load(file: unknown): Catalog {
  const result = loadCatalog(JSON.stringify(file), {})
  assert(result.kind === 'loaded', `the file is sound: ${JSON.stringify(result)}`)
  return result.catalog
}

const before = load(FILE)

/** The paths of all values in the file. */
function leavesOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]))
}

/** Another value of the same kind; undefined if no other one is sound without a second change. */
function otherThan(value: unknown, path: string[]): unknown {
  const place = path.join('.')
  if (place === 'service' || /^(models|tiers)\.\d+\.id$/.test(place)) return undefined
  if (/(fallback|candidates|targets)\.\d+(\.provider)?$/.test(place)) return undefined
  if (typeof value === 'number')
    return place.endsWith('firstByteMs') || place.endsWith('connectMs') ? value - 500 : value * 1.5
  const others: Record<string, string> = {
    'generate-content': 'messages',
    drain: 'auto',
    use: 'request',
    tools: 'images',
    smart: 'cheap',
    v1beta: 'v1',
    'https://one.example': 'https://two.example',
  }
  return others[String(value)] ?? `${value}-2`
}

function changed(path: string[], value: unknown): unknown {
  const file = structuredClone(FILE)
  let holder = file as unknown as Record<string, unknown>
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<string, unknown>
  holder[path.at(-1) ?? ''] = value
  return file
}

describe('each single value of the file', () => {
  const cases = leavesOf(FILE).flatMap((path) => {
    let value: unknown = FILE
    for (const key of path) value = (value as Record<string, unknown>)[key]
    const other = otherThan(value, path)
    const result =
      other === undefined ? undefined : loadCatalog(JSON.stringify(changed(path, roundedFor(other, path))), {})
    return result?.kind === 'loaded' ? [[path.join('.'), result.catalog] as const] : []
  })

  test('nearly every value of the catalogue file can be changed by itself', () => {
    expect(cases.length).toBeGreaterThan(40)
  })

  test.each(cases)('changing %s is listed as a change and gives another hash', (_, after) => {
    const changes = changesBetween(before, after)
    expect(changes.length).toBeGreaterThan(0)
    expect(hashCatalog(after, false)).not.toBe(hashCatalog(before, false))
    expect(JSON.stringify(changes)).not.toContain('secret')
  })
})

/** Most numbers are counts. */
function roundedFor(value: unknown, path: string[]): unknown {
  const isFraction = /Tokens$|usd|quality|Factor|observe|weight/.test(path.at(-1) ?? '')
  return typeof value === 'number' && !isFraction ? Math.ceil(value) : value
}

test('a changed order of models is reported, unless models were added or removed', () => {
  const after = load({ ...FILE, models: [...FILE.models].reverse() })
  expect(changesBetween(before, after)).toEqual([
    { what: 'order of models', before: 'svc/alpha, svc/beta', after: 'svc/beta, svc/alpha' },
  ])
  expect(hashCatalog(after, false)).not.toBe(hashCatalog(before, false))
})

test('the same catalogue file has the same hash, even if the sandbox has another address', () => {
  expect(hashCatalog(load(FILE), false)).toBe(hashCatalog(before, false))
  const simulated = ['http://localhost:1', 'http://localhost:2'].map((sandboxBaseUrl) => {
    const keyless = {
      ...FILE,
      providers: { p1: { ...FILE.providers.p1, keys: [''] }, p2: { ...FILE.providers.p2, keys: [''] } },
    }
    const result = loadCatalog(JSON.stringify(keyless), {}, { sandboxBaseUrl })
    assert(result.kind === 'loaded', 'it is sound')
    return hashCatalog(result.catalog, true)
  })
  expect(new Set(simulated).size).toBe(1)
})
