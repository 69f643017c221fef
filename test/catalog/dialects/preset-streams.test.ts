/**
 * Recorded streams of each preset's service: text, calls, finish reason and usage reach callers of its own and
 * another format, and the usage is charged once. The files in test/fixtures/presets were recorded by the vercel/ai
 * project (Apache-2.0), some shortened; the others follow their vendors' documentation.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { PRESETS } from '@/catalog/dialects/presets'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

const RECORDED = ['azure', 'cerebras', 'deepseek', 'groq', 'mistral', 'moonshot', 'xai']
/** No fewer tokens than any of the services says that it has read: more than a prompt can have is not charged. */
const LONG_PROMPT = 'Hi there. '.repeat(500)
const USAGE = { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 }

const said = (delta: JsonObject, more: JsonObject = {}, finish: string | null = null): JsonObject => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'theirs' },
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
})
const lone = (usage: JsonObject): JsonObject => ({ ...said({}, { usage }), choices: [] })
const call = (fields: JsonObject = {}) => ({
  tool_calls: [
    { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"a":1}' }, ...fields },
  ],
})

/** What is not recorded. */
const WRITTEN: Readonly<Record<string, JsonObject[]>> = {
  bedrock: [said({ role: 'assistant', content: 'Hel' }), said({ content: 'lo' }), said({}, {}, 'stop'), lone(USAGE)],
  fireworks: [said({ reasoning_content: 'Hm' }), said({ content: 'Hello' }), said({}, { usage: USAGE }, 'stop')],
  'llama.cpp': [
    said({ reasoning_content: 'Hm' }),
    said({ content: 'Hello' }, { timings: { predicted_n: 1 } }),
    said({}, {}, 'stop'),
    lone(USAGE),
  ],
  lmstudio: [said({ reasoning: 'Hm' }), said({ content: 'Hello' }), said({}, { usage: USAGE }, 'stop')],
  ollama: [said({ reasoning: 'Hm' }), said({ content: '', ...call() }), said({}, {}, 'tool_calls'), lone(USAGE)],
  openrouter: [
    said({ content: '', reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] }),
    said({ content: 'Hello' }, { native_finish_reason: null }),
    said({ content: '' }, { usage: { ...USAGE, cost: 0.0001 } }, 'stop'),
  ],
  sglang: [
    said({ role: 'assistant', content: 'Hello', tool_calls: null }),
    said({ role: null, content: null, tool_calls: null }, { matched_stop: 1 }, 'stop'),
    lone({ ...USAGE, prompt_tokens_details: null, reasoning_tokens: 0 }),
  ],
  together: [said({ content: 'Hello' }), said({ content: '' }, { usage: USAGE }, 'stop')],
  vllm: [
    said({ content: 'Hel' }, { usage: { prompt_tokens: 30, completion_tokens: 1, total_tokens: 31 } }),
    said({ content: 'lo' }, { usage: { prompt_tokens: 30, completion_tokens: 2, total_tokens: 32 } }),
    said({}, { usage: USAGE }, 'stop'),
    lone(USAGE),
  ],
}
const NAMES = [...PRESETS].filter(([, { entry }]) => entry.format === 'chat-completions').map(([name]) => name)

/** The chunks that the service of a preset sends. */
function chunksOf(preset: string): JsonObject[] {
  if (!RECORDED.includes(preset)) return WRITTEN[preset] ?? []
  const text = readFileSync(join('test/fixtures/presets', `${preset}.jsonl`), 'utf8')
  return text.split('\n').flatMap((line) => objectsOf([parseJson(line)]))
}

function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

type Told = {
  text: string
  reasoning: string
  calls: string[]
  finish: string | undefined
  output: number
  prompt: number
}

/** What a list of chunks says, read as plainly as can be: the last usage counts. */
function read(chunks: readonly JsonObject[]): Told {
  const told: Told = { text: '', reasoning: '', calls: [], finish: undefined, output: 0, prompt: 0 }
  for (const chunk of chunks) {
    for (const choice of objectsOf(chunk.choices)) {
      const delta = isJsonObject(choice.delta) ? choice.delta : {}
      told.text += delta.content ?? ''
      told.reasoning += delta.reasoning_content ?? delta.reasoning ?? ''
      for (const item of objectsOf(delta.tool_calls)) {
        const called = isJsonObject(item.function) ? item.function : {}
        const at = typeof item.index === 'number' ? item.index : 0
        told.calls[at] = `${told.calls[at] ?? ''}${called.name ?? ''}${called.arguments ?? ''}`
      }
      if (typeof choice.finish_reason === 'string') told.finish = choice.finish_reason
    }
    if (isJsonObject(chunk.usage) && Number(chunk.usage.total_tokens) > 0) {
      told.prompt = Number(chunk.usage.prompt_tokens)
      told.output = Number(chunk.usage.total_tokens) - told.prompt
    }
  }
  return told
}

let world: TestGateway

beforeAll(async () => {
  world = await startGateway({
    respond: ({ path }) => {
      const chunks = chunksOf(path.split('/')[1] ?? '')
      const events = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`)
      return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
    },
    catalog: (file) => {
      const [model] = file.models
      const address = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      for (const preset of NAMES) {
        const name = preset.replace('.', '-')
        file.providers[name] = { preset, baseUrl: `${address}/${preset}`, keys: ['the-key'] }
        const pricing = { inputPer1mTokens: 1, outputPer1mTokens: 2, cacheReadPer1mTokens: 1 }
        file.models.push({ ...model, id: `svc/${name}`, pricing, targets: [{ provider: name, model: 'theirs' }] })
      }
    },
  })
})
afterAll(() => world.stop())

/** All events of the answer to `body`, what was charged in nano-USD, and what it cost us, where that is known. */
async function ask(path: string, body: JsonObject) {
  const { key, accountId } = await world.customer('1')
  const response = await fetch(world.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      stream: true,
      max_tokens: 4000,
      messages: [{ role: 'user', content: LONG_PROMPT }],
      ...body,
    }),
  })
  const events = (await response.text()).split('\n').flatMap((line) => {
    const json = line.startsWith('data: ') ? parseJson(line.slice(6)) : undefined
    return isJsonObject(json) ? [json] : []
  })
  const { available } = await world.balance(accountId)
  const cost = async () => {
    const { sql } = world.gateway.database
    const [row] = await until(async () => {
      const rows = await sql<{ cost: number | null }[]>`
        SELECT provider_cost_nano AS cost FROM usage_records WHERE account_id = ${accountId}`
      return rows.length > 0 && rows
    })
    return row?.cost === null ? undefined : Number(row?.cost)
  }
  return { events, charged: 1_000_000_000 - available, cost }
}

describe.each(NAMES)('E23: a recorded stream of %s', (preset) => {
  const model = `svc/${preset.replace('.', '-')}`
  const sent = read(chunksOf(preset))
  const price = sent.prompt * 1_000 + sent.output * 2_000

  test('the recorded stream has text or calls, and output tokens', () => {
    expect(sent.text + sent.calls.join('')).not.toBe('')
    expect(sent.output).toBeGreaterThan(0)
  })

  test('the recorded stream reaches callers of its own format, and its usage is charged once', async () => {
    const { events, charged } = await ask('/v1/chat/completions', { model, stream_options: { include_usage: true } })
    const got = read(events)
    expect(got).toEqual(sent)
    expect(charged).toBe(price)
  })

  test('the recorded stream reaches callers of another format, at the same charge', async () => {
    const { events, charged } = await ask('/v1/messages', { model })
    const deltas = events.map(({ delta }) => (isJsonObject(delta) ? delta : {}))
    const textOf = (field: string) => deltas.map((delta) => delta[field] ?? '').join('')
    expect(textOf('text')).toBe(sent.text)
    expect(textOf('partial_json')).toContain(sent.calls.join('').replace(/^\w+/, ''))
    expect(textOf('stop_reason')).toBe(sent.finish === 'tool_calls' ? 'tool_use' : 'end_turn')
    expect(charged).toBe(price)
  })
})

test.each([
  ['openrouter', 100_000],
  ['xai', 133_050],
  ['groq', undefined],
])('E24: the cost that %s states is recorded as our cost, and does not change the price', async (preset, expected) => {
  const sent = read(chunksOf(preset))
  const { charged, cost } = await ask('/v1/chat/completions', { model: `svc/${preset}` })
  expect(await cost()).toBe(expected)
  expect(charged).toBe(sent.prompt * 1_000 + sent.output * 2_000)
})
