/** Bug 6 of similar products: tool calls break between formats, and broken ones are not counted. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { FORMATS, type ScriptedModels, startScriptedModels } from '@test/gateway/scripted-models'
import { chatChunk, eventStream } from '@test/support/upstream'
import { costOf, PRICE, recorded } from './support'

let world: ScriptedModels

beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

const TOOLS = {
  'chat-completions': {
    tools: [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }],
  },
  messages: { tools: [{ name: 'get_weather', input_schema: { type: 'object' } }] },
  'generate-content': { tools: [{ functionDeclarations: [{ name: 'get_weather', parameters: { type: 'OBJECT' } }] }] },
  responses: { tools: [{ type: 'function', name: 'get_weather', parameters: { type: 'object' } }] },
}
const LANES = FORMATS.flatMap((client) =>
  FORMATS.flatMap((provider) => [true, false].map((stream) => [client, provider, stream] as const)),
)

test.each(LANES)(
  '%s client, %s provider, streaming %p: the tool call arrives complete, and is charged by the provider’s usage',
  async (client, provider, stream) => {
    const answer = recorded(provider, 'tool-one', stream)
    const model = world.modelWith(provider, answer)
    const { input, output } = usageIn(await (await answer({} as never)).text())
    const cost = await costOf(world.gateway, world.customer.accountId, async () => {
      const { response, text } = await world.ask({ format: client, model, stream, body: TOOLS[client] })
      expect(response.status).toBe(200)
      expect(text).toContain('get_weather')
    })
    expect(cost).toBe(input * PRICE.input + output * PRICE.output)
  },
)

test('tool arguments that were relayed before a stream broke are charged', async () => {
  const piece = { index: 0, function: { arguments: '"a long piece of arguments",' } }
  const begin = { index: 0, id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '[' } }
  const model = world.modelWith('chat-completions', () =>
    eventStream(
      chatChunk({ role: 'assistant', content: null, tool_calls: [begin] }),
      ...Array.from({ length: 10 }, () => chatChunk({ tool_calls: [piece] })),
    ),
  )
  const cost = await costOf(world.gateway, world.customer.accountId, () =>
    world.ask({ format: 'messages', model, stream: true, body: TOOLS.messages }),
  )
  expect(cost).toBeGreaterThanOrEqual(10 * 5 * PRICE.output)
})

/** What the recorded answer says it used: the last figures in it, whatever its format calls them. */
function usageIn(text: string): { input: number; output: number } {
  const last = (pattern: RegExp) => Number([...text.matchAll(pattern)].at(-1)?.[1] ?? 0)
  const thoughts = last(/"thoughtsTokenCount":\s*(\d+)/g)
  return {
    input: last(/"(?:prompt_tokens|input_tokens|promptTokenCount)":\s*(\d+)/g),
    output: last(/"(?:completion_tokens|output_tokens|candidatesTokenCount)":\s*(\d+)/g) + thoughts,
  }
}
