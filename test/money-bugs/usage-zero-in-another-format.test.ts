/** Bug 7 of similar products: a client of another format than the model sees zero usage, or cannot count tokens. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { FORMATS, type ScriptedModels, startScriptedModels } from '@test/gateway/scripted-models'
import { costOf, recorded, spentAtRest } from './support'

let world: ScriptedModels

beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

const LANES = FORMATS.flatMap((client) =>
  FORMATS.flatMap((provider) => [true, false].map((stream) => [client, provider, stream] as const)),
)

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
