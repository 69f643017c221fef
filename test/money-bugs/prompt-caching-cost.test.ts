/** Bug 8 of similar products: cached input is counted twice or at full price, because formats count it differently. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { FORMATS, type FormatName, type ScriptedModels, startScriptedModels } from '@test/gateway/scripted-models'
import { costOf, PRICE, recorded } from './support'

let world: ScriptedModels

beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

/**
 * The recorded answers: 36 tokens of input, of which 12 came from a cache and, where the format can say it, 4 went into one;
 * 8 tokens of output. Three formats count cached input inside their input, one beside it.
 */
const COST: Record<FormatName, number> = {
  'chat-completions': 20 * PRICE.input + 12 * PRICE.cacheRead + 4 * PRICE.cacheWrite5m + 8 * PRICE.output,
  messages: 20 * PRICE.input + 12 * PRICE.cacheRead + 4 * PRICE.cacheWrite5m + 8 * PRICE.output,
  responses: 20 * PRICE.input + 12 * PRICE.cacheRead + 4 * PRICE.cacheWrite5m + 8 * PRICE.output,
  'generate-content': 24 * PRICE.input + 12 * PRICE.cacheRead + 8 * PRICE.output,
}
const LANES = FORMATS.flatMap((client) =>
  FORMATS.flatMap((provider) => [true, false].map((stream) => [client, provider, stream] as const)),
)

test.each(LANES)(
  'cached tokens have their price: %s client, %s provider, streaming %p',
  async (client, provider, stream) => {
    const model = world.modelWith(provider, recorded(provider, 'cached', stream))
    const cost = await costOf(world.gateway, world.customer.accountId, async () => {
      expect((await world.ask({ format: client, model, stream })).response.status).toBe(200)
    })
    expect(cost).toBe(COST[provider])
  },
)
