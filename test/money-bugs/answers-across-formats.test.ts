/** Bugs 5 to 9 of similar products: answers that are lost, cut, free or charged wrongly, by streams and between formats. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  FORMATS,
  type FormatName,
  type ScriptedModels,
  startScriptedModels,
  status,
} from '@test/gateway/scripted-models'
import { chatChunk, chatStream, eventStream, usageOf } from '@test/support/upstream'
import { costOf, PRICE, recorded, spentAtRest } from './support'

const LANES = FORMATS.flatMap((client) =>
  FORMATS.flatMap((provider) => [true, false].map((stream) => [client, provider, stream] as const)),
)

let world: ScriptedModels

beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

describe('bug 5: no fallback for a failed stream, a cut stream that looks complete, or a charge for both', () => {
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
})

describe('bug 6: tool calls break between formats, and broken ones are not counted', () => {
  const TOOLS = {
    'chat-completions': {
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }],
    },
    messages: { tools: [{ name: 'get_weather', input_schema: { type: 'object' } }] },
    'generate-content': {
      tools: [{ functionDeclarations: [{ name: 'get_weather', parameters: { type: 'OBJECT' } }] }],
    },
    responses: { tools: [{ type: 'function', name: 'get_weather', parameters: { type: 'object' } }] },
  }

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
})

describe('bug 7: a client of another format than the model sees zero usage, or cannot count tokens', () => {
  test.each(LANES)(
    '%s client, %s provider, streaming %p: the usage shown is the usage charged',
    async (client, provider, stream) => {
      const model = world.modelWith(provider, recorded(provider, 'text', stream))
      const wantsUsage = client === 'chat-completions' && stream ? { stream_options: { include_usage: true } } : {}
      let shown = { input: 0, output: 0 }
      const cost = await costOf(world.gateway, world.customer.accountId, async () => {
        const { text } = await world.ask({ format: client, model, stream, body: wantsUsage })
        shown = usageShown(text)
      })
      expect(shown.input).toBeGreaterThan(0)
      expect(shown.output).toBeGreaterThan(0)
      expect(cost).toBe(shown.input * 1_000 + shown.output * 2_000)
    },
  )

  test.each(FORMATS)(
    'the tokens of a %s model are counted for free in both formats with a token count',
    async (provider) => {
      const { gateway, customer } = world
      const model = world.modelWith(provider, () => new Response(null, { status: 500 }))
      const before = await spentAtRest(gateway, customer.accountId)
      const messages = await count('/v1/messages/count_tokens', { model, messages: [{ role: 'user', content: 'Hi' }] })
      const contents = await count(`/v1beta/models/${encodeURIComponent(model)}:countTokens`, {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      })
      expect([messages.status, contents.status]).toEqual([200, 200])
      expect(messages.body.input_tokens).toBeGreaterThan(0)
      expect(contents.body.totalTokens).toBeGreaterThan(0)
      expect(await spentAtRest(gateway, customer.accountId)).toBe(before)
    },
  )

  async function count(path: string, body: unknown): Promise<{ status: number; body: Record<string, number> }> {
    const response = await fetch(world.gateway.url + path, {
      method: 'POST',
      headers: { 'x-api-key': world.customer.key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as Record<string, number> }
  }

  function usageShown(text: string): { input: number; output: number } {
    const last = (pattern: RegExp) => Number([...text.matchAll(pattern)].at(-1)?.[1] ?? 0)
    return {
      input: last(/"(?:prompt_tokens|input_tokens|promptTokenCount)":\s*(\d+)/g),
      output: last(/"(?:completion_tokens|output_tokens|candidatesTokenCount)":\s*(\d+)/g),
    }
  }
})

describe('bug 8: cached input is counted twice or at full price, because formats count it differently', () => {
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
})

describe('bug 9: one of the streaming paths finds no usage, and the answer is free', () => {
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
})
