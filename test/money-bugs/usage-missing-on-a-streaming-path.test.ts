/** Bug 9 of similar products: one of the streaming paths finds no usage, and the answer is free. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { FORMATS, type ScriptedModels, startScriptedModels } from '@test/gateway/scripted-models'
import { costOf, PRICE, recorded } from './support'

let world: ScriptedModels

beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

const LANES = FORMATS.flatMap((client) =>
  FORMATS.flatMap((provider) => [true, false].map((stream) => [client, provider, stream] as const)),
)
/** The recorded answer says `Hello from the model.` */
const LEAST = 1 * PRICE.input + 5 * PRICE.output

test.each(LANES)(
  '%s client, %s provider, streaming %p: an answer without usage is counted',
  async (client, provider, stream) => {
    const model = world.modelWith(provider, recorded(provider, 'no-usage', stream))
    const cost = await costOf(world.gateway, world.customer.accountId, async () => {
      const { response, text } = await world.ask({ format: client, model, stream })
      expect(response.status).toBe(200)
      expect(text).toContain('Hello')
    })
    expect(cost).toBeGreaterThanOrEqual(LEAST)
    expect(cost).toBeLessThan(10 * LEAST)
  },
)

test('usage is always requested from the provider, and hidden from a client that did not request it', async () => {
  let asked: unknown
  const model = world.modelWith('chat-completions', (call) => {
    asked = call.body.stream_options
    return recorded('chat-completions', 'text', true)(call)
  })
  const { text } = await world.ask({ format: 'chat-completions', model, stream: true })
  expect(asked).toMatchObject({ include_usage: true })
  expect(text).not.toContain('prompt_tokens')
})
