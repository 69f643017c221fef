/** Bug 5 of similar products: no fallback for a failed stream, a cut stream that looks complete, or a charge for both. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ScriptedModels, startScriptedModels, status } from '@test/gateway/scripted-models'
import { chatChunk, chatStream, eventStream, usageOf } from '@test/support/upstream'
import { costOf, PRICE } from './support'

let world: ScriptedModels

beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

const ROLE = chatChunk({ role: 'assistant', content: '' })
const FAILURES = {
  'an error': status(500),
  'an error in its first event': () => eventStream({ error: { message: 'overloaded' } }),
  'nothing after its first event': () => eventStream(ROLE),
}

test.each(Object.entries(FAILURES))(
  'if the first target sends %s, the second answers completely, and only its answer is charged',
  async (_, failure) => {
    const { gateway, customer } = world
    const first = world.modelWith('chat-completions', failure)
    const second = world.modelWith('chat-completions', () =>
      eventStream(...chatStream(['whole ', 'answer'], usageOf(11, 7))),
    )
    const cost = await costOf(gateway, customer.accountId, async () => {
      const { response, text } = await world.ask({
        format: 'chat-completions',
        model: first,
        fallback: [second],
        stream: true,
      })
      expect(response.headers.get('x-svc-model')).toBe(second)
      expect(text).toContain('answer')
      expect(text).toEndWith('data: [DONE]\n\n')
    })
    expect(cost).toBe(11 * PRICE.input + 7 * PRICE.output)
  },
)

test('a stream that breaks after content ends in an error, costs the relayed part, and is not sent to another provider', async () => {
  const { gateway, customer } = world
  const first = world.modelWith('chat-completions', () =>
    eventStream(ROLE, ...Array.from({ length: 5 }, () => chatChunk({ content: 'half an answer ' }))),
  )
  let calls = 0
  const second = world.modelWith('chat-completions', () => {
    calls++
    return eventStream(...chatStream(['whole']))
  })
  const cost = await costOf(gateway, customer.accountId, async () => {
    const { text } = await world.ask({ format: 'chat-completions', model: first, fallback: [second], stream: true })
    expect(text).toContain('"error"')
    expect(text).not.toContain('[DONE]')
  })
  expect(calls).toBe(0)
  expect(cost).toBeGreaterThanOrEqual(5 * 3 * PRICE.output)
  expect(cost).toBeLessThan(100 * PRICE.output)
})
