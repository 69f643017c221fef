/** The catalogue for the models page: every model and tier, and every price exactly. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import type { ModelBody, TierBody } from '@/console/http/model-routes'

let gateway: TestGateway
let person: Person

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => new Response(),
    catalog(file) {
      const [alpha] = file.models
      Object.assign(alpha?.pricing as object, { toolPrices: { web_search: 0.01 } })
      const pricing = { inputPer1mTokens: 0.000001, outputPer1mTokens: 12.345678, cacheReadPer1mTokens: 0 }
      const writes = { cacheWritePer1mTokens: 100, cacheWrite1hPer1mTokens: 0.1 }
      const longContext = [{ aboveInputTokens: 200_000, inputPer1mTokens: 2, outputPer1mTokens: 24.5 }]
      file.models.push({
        ...{ ...alpha, id: 'svc/odd', name: 'Odd <b>', fallback: ['svc/alpha'], capabilities: ['reasoning', 'tools'] },
        pricing: { ...pricing, ...writes, steps: longContext },
      })
    },
  })
  person = await signUpPerson(gateway)
})
afterAll(() => gateway.stop())

test('models and tiers are listed in catalogue order, with decimal prices', async () => {
  const { status, body } = await person.json('GET', '/dashboard/api/models')
  expect(status).toBe(200)
  const { models, tiers } = body as { models: ModelBody[]; tiers: TierBody[] }
  expect(models.map(({ id }) => id)).toEqual(['svc/alpha', 'svc/odd'])
  expect(models[0]).toEqual({
    ...{ id: 'svc/alpha', kind: 'chat', name: 'Alpha', created: '2025-10-09T08:53:20.000Z', ownedBy: 'provider1' },
    prices: { input: '1', cacheRead: '0.1', cacheWrite5m: '1.25', cacheWrite1h: '2', output: '2' },
    dataTerms: [{ provider: 'provider1', retention: 'unknown', trains: 'unknown', region: null }],
    ...{ providers: ['provider1'], priceSteps: [], contextLength: 256_000, maxOutputTokens: 32_768, fallback: [] },
    capabilities: ['tools', 'images', 'reasoning', 'json-schema'],
    priceLines: [],
    toolPrices: [{ tool: 'web_search', usd: '0.01', per: 'use' }],
  })
  expect(models[1]).toMatchObject({
    ...{ name: 'Odd <b>', fallback: ['svc/alpha'], capabilities: ['tools', 'reasoning'] },
    prices: { input: '0.000001', cacheRead: '0', cacheWrite5m: '100', cacheWrite1h: '0.1', output: '12.345678' },
    priceSteps: [{ aboveInputTokens: 200_000, prices: { input: '2', output: '24.5' } }],
  })
  expect(tiers).toEqual([
    {
      ...{ id: 'auto-smart', name: 'Auto Smart', created: tiers[0]?.created ?? '', strategy: 'smart' },
      ...{ contextLength: 128_000, candidates: ['svc/alpha'] },
    },
  ])
})

test('the list of models has no provider secret, and needs a session', async () => {
  const answer = await person.fetch('/dashboard/api/models')
  const text = await answer.text()
  expect(text).not.toContain('canary')
  expect(text).not.toContain(gateway.upstream.url)
  expect((await fetch(`${gateway.url}/dashboard/api/models`)).status).toBe(401)
})
