/** Service tiers without a price are refused before a call; `auto` costs the catalogue's price, whichever tier answers. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chatCompletion } from '@test/support/upstream'
import { type FormatName, type ScriptedModels, soundAnswer, startScriptedModels } from './scripted-models'

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

const FIELDS: [FormatName, string][] = [
  ['chat-completions', 'service_tier'],
  ['responses', 'service_tier'],
  ['generate-content', 'serviceTier'],
  ['messages', 'service_tier'],
]

test.each(FIELDS)('%s: flex is a 400 that names the field, in every pair', async (format, field) => {
  for (const [provider] of FIELDS) {
    let asked = 0
    const model = world.modelWith(provider, () => {
      asked += 1
      return soundAnswer(provider, false)
    })
    const { response, text } = await world.ask({ format, model, body: { [field]: 'flex' } })
    expect([response.status, text]).toEqual([400, expect.stringContaining('service_tier')])
    expect(asked).toBe(0)
  }
})

test('a request for the tier auto is charged at the standard price, whatever tier the answer names', async () => {
  const costs = ['default', 'flex', 'priority', 'scale'].map(async (tier) => {
    const model = world.modelWith('chat-completions', () =>
      Response.json({ ...chatCompletion('Sound'), service_tier: tier }),
    )
    const { response } = await world.ask({ format: 'chat-completions', model, body: { service_tier: 'auto' } })
    expect(response.status).toBe(200)
    return response.headers.get('x-svc-cost-usd')
  })
  const [first, ...others] = await Promise.all(costs)
  expect(Number(first)).toBeGreaterThan(0)
  for (const other of others) expect(other).toBe(first ?? null)
})
