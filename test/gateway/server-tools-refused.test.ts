/** Tools that run at the provider are refused by name if they have no price, and never sent to another format. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type FormatName, type ScriptedModels, soundAnswer, startScriptedModels } from './scripted-models'
import { message, SEARCH, SEARCH_CONTENT } from './search-answers'

let world: ScriptedModels
let unpriced: ScriptedModels

beforeAll(async () => {
  world = await startScriptedModels({}, { toolPrices: { web_search: 0.01 } })
  unpriced = await startScriptedModels()
})
afterAll(async () => {
  await world.gateway.stop()
  await unpriced.gateway.stop()
})

describe('tools without a price', () => {
  test.each([
    ['messages', { tools: [SEARCH] }, 'tools[0]'],
    ['messages', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }, 'tools[0]'],
    ['generate-content', { tools: [{ functionDeclarations: [{ name: 'f' }] }, { googleSearch: {} }] }, 'tools[1]'],
    ['chat-completions', { web_search_options: {} }, 'web_search_options'],
  ] as [FormatName, Record<string, unknown>, string][])(
    '%s refuses %j, naming the field',
    async (format, body, field) => {
      const model = unpriced.modelWith(format, () => soundAnswer(format, false))
      const { response, text } = await unpriced.ask({ format, model, body })
      expect(response.status).toBe(400)
      expect(text).toContain(field)
      expect(text).toContain('No model takes it')
    },
  )

  test.each(['chat-completions', 'generate-content'] as const)(
    'a provider of %s never gets another format’s tool; the 400 names models that accept it',
    async (provider) => {
      const model = world.modelWith(provider, () => soundAnswer(provider, false))
      const { response, text } = await world.ask({ format: 'messages', model, body: { tools: [SEARCH] } })
      expect(response.status).toBe(400)
      expect(JSON.parse(text).error.message).toMatch(
        /tools\[0\] \(web_search_20250305\).*Models that take it: svc\/messages-0/,
      )
    },
  )

  test('if a tool has no price at a model, a fallback with a price answers', async () => {
    const foreign = world.modelWith('chat-completions', () => soundAnswer('chat-completions', false))
    const model = world.modelWith('messages', () => Response.json(message({ web_search_requests: 1 })))
    const { response } = await world.ask({
      format: 'messages',
      model: foreign,
      fallback: [model],
      body: { tools: [SEARCH] },
    })
    expect(response.headers.get('x-svc-model')).toBe(model)
  })

  test('a conversation with a tool’s blocks goes to another format without them, and the answer names the omission', async () => {
    const model = world.modelWith('chat-completions', () => soundAnswer('chat-completions', false))
    const messages = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: SEARCH_CONTENT },
      { role: 'user', content: 'And tomorrow?' },
    ]
    const { response } = await world.ask({ format: 'messages', model, body: { messages } })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-svc-left-out')).toContain('messages.server_tool_use')
  })
})
