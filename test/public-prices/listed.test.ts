/** The default catalogue compared with public prices: no model vanished, retires soon or is sold at a loss. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Catalog, Model } from '@/catalog/types'
import type { Pico } from '@/lib/money'
import { compareCatalog } from './compare'
import { loadWithAllKeys } from './load'
import { READ_ON, retirementOf } from './retirements'

const ROOT = join(import.meta.dir, '../..')
const catalog = await loadWithAllKeys(join(ROOT, 'config/catalog.json'))

/** The catalogue with `svc/alpha` changed. */
function withAlpha(change: (model: Model) => Partial<Model>): Catalog {
  const alpha = catalog.models.get('svc/alpha')
  if (!alpha) throw new Error('no svc/alpha')
  return { ...catalog, models: new Map([['svc/alpha', { ...alpha, ...change(alpha) }]]) }
}

function renamed(model: string): Catalog {
  return withAlpha(({ targets }) => ({ targets: targets.map((target) => ({ ...target, model })) }))
}

describe('the default catalogue and public prices', () => {
  test('the default catalogue has no model that vanished, retires soon or is sold below any listed price, now or later', () => {
    expect(compareCatalog(catalog, READ_ON).filter(({ isFault }) => isFault)).toEqual([])
  })

  test('the default catalogue equals the providers’ lists, except for announced price rises', () => {
    const priced = compareCatalog(catalog, '2027-01-01').filter(({ text }) => !text.startsWith('cost of'))
    expect(priced).toEqual([])
  })

  test('the default catalogue has the listed cost of each target', () => {
    for (const { targets } of catalog.models.values()) for (const { cost } of targets) expect(cost).toBeDefined()
    const costs = compareCatalog(catalog, READ_ON).filter(({ text }) => text.startsWith('cost of'))
    expect(costs.filter(({ text }) => !text.includes(' from '))).toEqual([])
  })

  test('the default catalogue keeps its model ids, three per provider, and its embedding models', () => {
    const families = ['alpha', 'beta', 'gamma'].flatMap((name) => [name, `${name}-fast`, `${name}-small`])
    const slugs = [...families, 'alpha-embed-small', 'alpha-embed-large', 'gamma-embed']
    expect([...catalog.models.keys()]).toEqual(slugs.map((slug) => `svc/${slug}`))
    for (const { ownedBy, targets } of catalog.models.values()) expect(targets[0]?.provider.name).toBe(ownedBy)
  })
})

describe('findings of the comparison with public prices', () => {
  test('the comparison finds a model that no provider lists', () => {
    expect(compareCatalog(renamed('gpt-0-vanished'), READ_ON)).toMatchObject([
      { model: 'svc/alpha', target: 'gpt-0-vanished', text: expect.stringContaining('nobody lists it'), isFault: true },
    ])
  })

  test('the comparison finds a retirement thirty days before, not earlier', () => {
    expect(retirementOf('claude-sonnet-4-5-20250929')).toBe('2026-11-30')
    expect(retirementOf('gemini-2.5-flash')).toBe('2026-12-01')
    expect(retirementOf('gemini-2.5-flash-lite')).toBeUndefined()
    const beta = catalog.models.get('svc/beta')
    if (!beta) throw new Error('no svc/beta')
    const targets = beta.targets.map((target) => ({ ...target, model: 'claude-sonnet-4-5' }))
    const old = { ...catalog, models: new Map([['svc/beta', { ...beta, targets }]]) }
    const found = { text: 'retires on 2026-11-30', isFault: true }
    expect(compareCatalog(old, '2026-11-01')).toContainEqual(expect.objectContaining(found))
    expect(compareCatalog(old, '2026-10-31')).not.toContainEqual(expect.objectContaining(found))
  })

  test.each(['input', 'cacheRead', 'cacheWrite5m', 'output'] as const)(
    'the comparison finds a loss on %s, also one above a step only',
    (name) => {
      const cheaper = withAlpha(({ pricing }) => ({
        pricing: { ...pricing, base: { ...pricing.base, [name]: (pricing.base[name] - 1) as Pico } },
      }))
      // Below what is listed, and below what the catalogue itself says it costs.
      expect(compareCatalog(cheaper, READ_ON)).toMatchObject([{ isFault: true }, { isFault: true }])
      const flat = withAlpha(({ pricing }) => ({ pricing: { ...pricing, steps: [] } }))
      const above = compareCatalog(flat, READ_ON).map(({ text }) => text)
      expect(above).toContainEqual(expect.stringMatching(/^output above 272000 input tokens: \$10, listed \$15/))
    },
  )

  test('the comparison finds a price below cost, and a cost that no source lists', () => {
    const discounted = withAlpha(({ targets, pricing }) => ({
      targets: targets.map((target) => ({
        ...target,
        cost: { ...pricing, base: { ...pricing.base, output: (pricing.base.output - 1) as Pico } },
      })),
    }))
    expect(compareCatalog(discounted, READ_ON)).toMatchObject([
      { text: 'cost of output: $9.999999, listed $10', isFault: false },
    ])
    const dear = withAlpha(({ targets, pricing }) => ({
      targets: targets.map((target) => ({
        ...target,
        cost: { ...pricing, base: { ...pricing.base, output: (pricing.base.output + 1) as Pico } },
      })),
    }))
    expect(compareCatalog(dear, READ_ON)).toContainEqual(
      expect.objectContaining({ text: 'output: sold at $10, costs $10.000001 at provider1', isFault: true }),
    )
  })

  test('the comparison accepts a margin between price and cost', () => {
    const dearer = withAlpha(({ pricing }) => ({
      pricing: { ...pricing, base: { ...pricing.base, output: (pricing.base.output + 1) as Pico } },
    }))
    expect(compareCatalog(dearer, READ_ON)).toMatchObject([{ isFault: false }])
  })

  test('the comparison finds a price that will rise, with the day', () => {
    const rising = compareCatalog(renamed('gpt-5.6-luna'), '2026-07-01').map(({ text }) => text)
    expect(rising).toContainEqual(expect.stringMatching(/^output: \$10, listed \$1\.2 from 2026-07-30$/))
  })

  test('the comparison reports a context length above the listed one as a fault, and one below as a note', () => {
    expect(
      compareCatalog(
        withAlpha(() => ({ contextLength: 2_000_000 })),
        READ_ON,
      ),
    ).toMatchObject([{ isFault: true }])
    expect(
      compareCatalog(
        withAlpha(() => ({ contextLength: 300_000 })),
        READ_ON,
      ),
    ).toMatchObject([{ isFault: false }])
  })

  test('the comparison finds a model whose audio costs more than its text price', () => {
    const gamma = catalog.models.get('svc/gamma-small')
    if (!gamma) throw new Error('no svc/gamma-small')
    const targets = gamma.targets.map((target) => ({ ...target, model: 'gemini-2.5-flash-lite' }))
    const pricing = { ...gamma.pricing, base: { ...gamma.pricing.base, input: 100_000 as Pico } }
    const old = { ...catalog, models: new Map([[gamma.id, { ...gamma, targets, pricing }]]) }
    expect(compareCatalog(old, READ_ON)).toContainEqual(
      expect.objectContaining({ text: 'input: $0.1, listed $0.3', isFault: true }),
    )
  })
})
