/** The listed prices times the usage of an answer equal its cost, for every pair of formats. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Static } from '@sinclair/typebox'
import { modelAt, startTrio } from '@test/clients/trio'
import { ask, TEXT } from '@test/matrix/cases/words'
import { readFixture } from '@test/matrix/provider'
import type { Customer, TestGateway } from '@test/support/gateway'
import { fc } from '@test/support/property'
import type { UpstreamCall } from '@test/support/upstream'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { ModelEntry } from '@/http/model-entry'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'

type Entry = Static<typeof ModelEntry>
type Told = { uncached: number; cacheRead: number; cacheWrite5m: number; cacheWrite1h: number; output: number }

/** Price lists for each provider, with none, one and two steps in turn. */
const LISTS = 6
const STEPS = [300, 900]
/** Of so many words that each token count below is possible. */
const PROMPT = 'word '.repeat(3_000)
const OUTPUT_TOKENS = 7

/** pico-USD per token, of one digit or many. */
const price = fc.oneof(
  fc.integer({ min: 0, max: 99_999_999 }),
  fc.integer({ min: 0, max: 99 }).map((usd) => usd * 1e6),
)
const prices = fc.record({
  inputPer1mTokens: price,
  outputPer1mTokens: price,
  cacheReadPer1mTokens: fc.option(price, { nil: undefined }),
  cacheWritePer1mTokens: fc.option(price, { nil: undefined }),
  cacheWrite1hPer1mTokens: fc.option(price, { nil: undefined }),
})
const inUsd = (list: Record<string, number | undefined>) =>
  Object.fromEntries(Object.entries(list).flatMap(([name, pico]) => (pico === undefined ? [] : [[name, pico / 1e6]])))

const inputOf = ({ uncached, cacheRead, cacheWrite5m, cacheWrite1h }: Told) =>
  uncached + cacheRead + cacheWrite5m + cacheWrite1h

/** The usage as a provider of the format states it; one that has no word for a class is never told of it. */
const STATED: Record<FormatName, (told: Told) => JsonObject> = {
  'chat-completions': (told) => ({
    prompt_tokens: inputOf(told),
    completion_tokens: told.output,
    total_tokens: inputOf(told) + told.output,
    prompt_tokens_details: { cached_tokens: told.cacheRead, cache_write_tokens: told.cacheWrite5m },
  }),
  messages: ({ uncached, cacheRead, cacheWrite5m, cacheWrite1h, output }) => ({
    input_tokens: uncached,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h },
    output_tokens: output,
  }),
  'generate-content': (told) => ({
    promptTokenCount: inputOf(told),
    cachedContentTokenCount: told.cacheRead,
    candidatesTokenCount: told.output,
    totalTokenCount: inputOf(told) + told.output,
  }),
  responses: (told) => ({
    input_tokens: inputOf(told),
    input_tokens_details: { cached_tokens: told.cacheRead, cache_write_tokens: told.cacheWrite5m },
    output_tokens: told.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputOf(told) + told.output,
  }),
}

/** Token counts whose input is `total`, of the classes that the provider has. */
function split(total: number, seed: number, provider: FormatName): Told {
  const can = (bit: number, share: number, able: boolean) => (able && (seed >> bit) & 1 ? Math.floor(total * share) : 0)
  const cacheRead = can(0, 0.3, true)
  const cacheWrite5m = can(1, 0.2, provider !== 'generate-content')
  const cacheWrite1h = can(2, 0.1, provider === 'messages')
  const uncached = total - cacheRead - cacheWrite5m - cacheWrite1h
  return { uncached, cacheRead, cacheWrite5m, cacheWrite1h, output: OUTPUT_TOKENS }
}

/** The parts of a usage that a client of the format reads, and what they are by the classes. */
const SHOWN: Record<
  FormatName,
  { read: (usage: JsonObject) => (JsonValue | undefined)[]; of: (told: Told) => number[] }
> = {
  'chat-completions': {
    read: ({ prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details }) => {
      const { cached_tokens: read, cache_write_tokens: written } = isJsonObject(details) ? details : {}
      return [input, read ?? 0, written ?? 0, output]
    },
    of: (told) => [inputOf(told), told.cacheRead, told.cacheWrite5m + told.cacheWrite1h, told.output],
  },
  messages: {
    read: ({ input_tokens: input, cache_read_input_tokens: read, cache_creation: written, output_tokens: output }) => {
      const { ephemeral_5m_input_tokens: of5m, ephemeral_1h_input_tokens: of1h } = isJsonObject(written) ? written : {}
      return [input, read, of5m, of1h, output]
    },
    of: (told) => [told.uncached, told.cacheRead, told.cacheWrite5m, told.cacheWrite1h, told.output],
  },
  'generate-content': {
    read: ({ promptTokenCount: input, cachedContentTokenCount: read, candidatesTokenCount: output }) => [
      ...[input, read ?? 0, output],
    ],
    of: (told) => [inputOf(told), told.cacheRead, told.output],
  },
  responses: {
    read: ({ input_tokens: input, input_tokens_details: details, output_tokens: output }) => {
      const { cached_tokens: read, cache_write_tokens: written } = isJsonObject(details) ? details : {}
      return [input, read, written, output]
    },
    of: (told) => [inputOf(told), told.cacheRead, told.cacheWrite5m + told.cacheWrite1h, told.output],
  },
}

const USAGE_FIELDS = ['usage', 'usageMetadata']

/** A recorded answer or event with this usage in place of its own. */
function withUsage(value: JsonValue | undefined, usage: JsonObject): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => withUsage(item, usage) ?? null)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [
      name,
      USAGE_FIELDS.includes(name) && isJsonObject(held) ? usage : withUsage(held, usage),
    ]),
  )
}

/** The last usage of an answer, whole or streamed. */
function usageIn(text: string): JsonObject {
  const whole = parseJson(text)
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'))
  const events = isJsonObject(whole) ? [whole] : lines.map((line) => parseJson(line.slice('data: '.length)))
  const usages = events.flatMap((event) => {
    if (!isJsonObject(event)) return []
    const { response } = event
    return [isJsonObject(response) ? response.usage : undefined, event.usage, event.usageMetadata].filter(isJsonObject)
  })
  return usages.at(-1) ?? expect.unreachable(text)
}

/** The charge in nano-USD by the prices of the list, rounded up once. */
function reckon({ pricing }: Entry, told: Told): number {
  const list = pricing?.steps.findLast((step) => inputOf(told) > step.above_input_tokens) ?? pricing
  if (!list) return expect.unreachable('a model has prices')
  const parts = [
    [told.uncached, list.input_per_1m_tokens],
    [told.cacheRead, list.cache_read_per_1m_tokens],
    [told.cacheWrite5m, list.cache_write_per_1m_tokens],
    [told.cacheWrite1h, list.cache_write_1h_per_1m_tokens],
    [told.output, list.output_per_1m_tokens],
  ] as const
  const pico = parts.reduce((sum, [tokens, usd]) => sum + BigInt(tokens) * BigInt(Math.round(usd * 1e6)), 0n)
  return Number((pico + 999n) / 1000n)
}

const toNano = (usd: unknown) => Math.round(Number(usd) * 1e9)

let gateway: TestGateway
let customer: Customer
let told: Told
let entries: ReadonlyMap<string, Entry>

beforeAll(async () => {
  const lists = fc.sample(fc.tuple(prices, prices, prices), LISTS)
  gateway = await startTrio({
    respond,
    catalog(file) {
      file.models = FORMAT_NAMES.flatMap((provider) => {
        const model = file.models.find(({ id }) => id === modelAt(provider))
        return lists.map(([base, ...above], index) => ({
          ...{ ...model, id: `${modelAt(provider)}-${index}` },
          pricing: {
            ...inUsd(base),
            steps: above.slice(0, index % 3).map((list, step) => ({ aboveInputTokens: STEPS[step], ...inUsd(list) })),
          },
        }))
      })
    },
  })
  customer = await gateway.customer('100000')
  const { data } = (await (await fetch(`${gateway.url}/v1/models`)).json()) as { data: Entry[] }
  entries = new Map(data.map((entry) => [entry.id, entry]))
})
afterAll(() => gateway.stop())

function respond({ path, body }: UpstreamCall): Response {
  const format = FORMAT_NAMES.find((name) => path.includes(PROVIDER_PATHS[name])) ?? expect.unreachable(path)
  const usage = STATED[format](told)
  if (body.stream !== true && !path.includes('stream'))
    return Response.json(withUsage(parseJson(readFixture(format, `${TEXT.fixture}.json`)), usage))
  const text = readFixture(format, `${TEXT.fixture}.sse`).replaceAll(/^data: (\{.*)$/gm, (_, data: string) => {
    return `data: ${JSON.stringify(withUsage(parseJson(data), usage))}`
  })
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

const PROVIDER_PATHS: Record<FormatName, string> = {
  'chat-completions': '/chat/completions',
  messages: '/messages',
  responses: '/responses',
  'generate-content': 'enerateContent',
}

async function send(client: FormatName, model: string, stream: boolean) {
  const isOfPath = client === 'generate-content'
  const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const path = isOfPath ? `/v1beta/models/${model}:${verb}` : `/v1${PROVIDER_PATHS[client]}`
  const asked = ask({
    chat: { messages: [{ role: 'user', content: PROMPT }] },
    messages: { messages: [{ role: 'user', content: PROMPT }] },
    gemini: { contents: [{ role: 'user', parts: [{ text: PROMPT }] }] },
    responses: { input: PROMPT },
  })[client]
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${customer.key}`,
      'content-type': 'application/json',
      'x-svc-usage-record': 'true',
    },
    body: JSON.stringify({ ...asked, ...(!isOfPath && { model, stream }) }),
  })
  return { usage: usageIn(await response.text()), header: response.headers.get('x-svc-cost-usd') }
}

const PAIRS = FORMAT_NAMES.flatMap((client) => FORMAT_NAMES.map((provider) => ({ client, provider })))

describe.each(PAIRS)('$client at $provider', ({ client, provider }) => {
  test.each([false, true])(
    'the cost is the usage times the listed prices, to the nano-USD, at and beyond every step (stream: %p)',
    async (stream) => {
      const sums = new Set<number>()
      for (let index = 0; index < LISTS; index++) {
        const entry = entries.get(`${modelAt(provider)}-${index}`) ?? expect.unreachable('it is listed')
        const steps = entry.pricing?.steps.map((step) => step.above_input_tokens) ?? []
        expect(steps).toEqual(STEPS.slice(0, index % 3))
        for (const total of [17, ...steps.flatMap((step) => [step, step + 1]), 1_501]) {
          told = split(total, index + total, provider)
          const { usage, header } = await send(client, entry.id, stream)
          const { read, of } = SHOWN[client]
          const cost = reckon(entry, told)
          const seen = { total, shown: read(usage), cost: toNano(usage.cost), header: stream ? cost : toNano(header) }
          expect(seen).toEqual({ total, shown: of(told), cost, header: cost })
          sums.add(cost)
        }
      }
      expect(sums.size).toBeGreaterThan(1)
    },
  )
})
