/** The cost of an answer in its last usage, if requested: in every format, and equal to the charge. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { modelAt, startTrio } from '@test/clients/trio'
import { createRandom } from '@test/fuzz/random'
import { ask } from '@test/matrix/cases/words'
import { readFixture } from '@test/matrix/provider'
import type { Customer, TestGateway } from '@test/support/gateway'
import { SEED } from '@test/support/seed'
import { liveStream, type UpstreamCall } from '@test/support/upstream'
import { flushed } from '@test/usage/customer'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'

const random = createRandom(SEED)
/** Prices at which most sums have to be rounded. */
const PRICING = { inputPer1mTokens: 1.234567, outputPer1mTokens: 7.654321, cacheReadPer1mTokens: 0.123457 }
const STREAMS = 40

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startTrio({
    respond,
    catalog(file) {
      const [template] = Object.values(file.providers)
      for (const model of file.models) model.pricing = PRICING
      const down = { ...template, format: 'chat-completions', baseUrl: `${String(template?.baseUrl)}/down` }
      file.providers.down = { ...down, timeouts: { ...(template?.timeouts as object), hedgeMs: 200 } }
      for (const format of FORMAT_NAMES) {
        const targets = [
          { provider: 'down', model: 'down' },
          { provider: format, model: 'upstream-model' },
        ]
        file.models.push({ ...file.models[0], id: `svc/falls-${format}`, name: 'Falls', targets })
        file.models.push({ ...file.models[0], id: `svc/hedged-${format}`, name: 'Hedged', targets: hedged(targets) })
      }
    },
  })
  customer = await gateway.customer('1000')
})
afterAll(() => gateway.stop())

function hedged(targets: { provider: string; model: string }[]) {
  return targets.map((target) => (target.model === 'down' ? { ...target, model: 'silent' } : target))
}

/** Answers of as many tokens as chance has it, in pieces of as many bytes. */
function respond({ path, body }: UpstreamCall): Response {
  if (body.model === 'silent') return liveStream().response
  if (body.model === 'down') return Response.json({ error: { message: 'down' } }, { status: 503 })
  const format = formatOf(path)
  const isStream = body.stream === true || path.includes('stream')
  const text = withTokens(readFixture(format, `matrix/text.${isStream ? 'sse' : 'json'}`))
  const type = isStream ? 'text/event-stream' : 'application/json'
  return new Response(random.pick([text, inPieces(text)]), { headers: { 'content-type': type } })
}

function formatOf(path: string): FormatName {
  if (path.includes('/chat/completions')) return 'chat-completions'
  if (path.includes('/messages')) return 'messages'
  return path.includes('/responses') ? 'responses' : 'generate-content'
}

function withTokens(text: string, input = 20 + random.below(280), output = 8 + random.below(9_000)): string {
  return text
    .replaceAll(/("(?:prompt_tokens|input_tokens|promptTokenCount|tokenCount)": ?)20/g, `$1${input}`)
    .replaceAll(/("(?:completion_tokens|output_tokens|candidatesTokenCount)": ?)8/g, `$1${output}`)
    .replaceAll(/("(?:total_tokens|totalTokenCount)": ?)28/g, `$1${input + output}`)
}

function inPieces(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  const size = 1 + random.below(400)
  let at = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + size))
      at += size
      await new Promise((resolve) => setImmediate(resolve))
    },
  })
}

const VERBS = { true: ':streamGenerateContent?alt=sse', false: ':generateContent' }
const PATHS: Record<FormatName, string> = {
  'chat-completions': '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
  'generate-content': '/v1beta/models/',
}

type Asked = { format: FormatName; model: string; stream: boolean; body?: JsonObject; headers?: Record<string, string> }
type Told = { status: number; requestId: string; text: string; headers: Headers }

async function send({ format, model, stream, body = {}, headers = {} }: Asked): Promise<Told> {
  const isOfPath = format === 'generate-content'
  const path = PATHS[format] + (isOfPath ? model + VERBS[`${stream}`] : '')
  const { max_output_tokens: _, max_completion_tokens: _old, generationConfig: _config, ...question } = ask()[format]
  const limit = format === 'messages' ? { max_tokens: 20_000 } : {}
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...question, ...limit, ...(!isOfPath && { model, stream }), ...body }),
  })
  const text = await response.text()
  const requestId = response.headers.get('x-request-id') ?? ''
  return { status: response.status, requestId, text, headers: response.headers }
}

/** Every usage that says a cost, in order. */
function costsIn(text: string): JsonObject[] {
  const whole = parseJson(text)
  if (isJsonObject(whole)) return usagesIn(whole)
  const events = text.split('\n').flatMap((line) => (line.startsWith('data:') ? [parseJson(line.slice(5))] : []))
  return events.flatMap((event) => usagesIn(event))
}

function usagesIn(json: JsonValue | undefined): JsonObject[] {
  if (!isJsonObject(json)) return []
  const places = [json.usage, json.usageMetadata, isJsonObject(json.response) ? json.response.usage : undefined]
  return places.filter(isJsonObject).filter((usage) => usage.cost !== undefined)
}

async function recorded(requestIds: string[]): Promise<Map<string, number>> {
  await flushed(gateway, customer.accountId)
  const { sql } = gateway.gateway.database
  const rows = await sql<{ request_id: string; cost: string }[]>`
    SELECT request_id, cost_nano::text AS cost FROM usage_records WHERE request_id IN ${sql(requestIds)}`
  return new Map(rows.map((row) => [row.request_id, Number(row.cost)]))
}

/** That each says once what its record says, to the nano-USD, and in parts that make up the whole. */
async function expectRecorded(told: readonly Told[]): Promise<void> {
  const costs = await recorded(told.map(({ requestId }) => requestId))
  for (const { requestId, text, status } of told) {
    expect({ status, text }).toMatchObject({ status: 200 })
    const [usage, ...others] = costsIn(text)
    expect(others).toEqual([])
    assert(usage, `a usage with its cost in ${text}`)
    expect(costs.get(requestId)).toBeGreaterThan(0)
    expect(usage.cost).toBe((costs.get(requestId) ?? Number.NaN) / 1e9)
    const details = Object.values(usage.cost_details as JsonObject).filter((part) => typeof part === 'number')
    expect(details.reduce((sum, part) => sum + Math.round(part * 1e9), 0)).toBe(Math.round(Number(usage.cost) * 1e9))
  }
}

const WISH = { usage: { include: true } }
const HEADER = { 'x-svc-usage-record': 'true' }

describe.each(FORMAT_NAMES)('the cost option of %s', (format) => {
  test(`${STREAMS} concurrent streams state the cost of their records, also after a fallback`, async () => {
    const models = FORMAT_NAMES.flatMap((provider) => [modelAt(provider), `svc/falls-${provider}`])
    const asked = Array.from({ length: STREAMS }, (_, index) =>
      send({
        format,
        model: models[index % models.length] ?? '',
        stream: true,
        ...(index % 3 === 0 ? { headers: HEADER } : { body: WISH }),
      }),
    )
    await expectRecorded(await Promise.all(asked))
  })

  test('whole answers have the same cost in body and header', async () => {
    const models = FORMAT_NAMES.flatMap((provider) => [modelAt(provider), `svc/falls-${provider}`])
    const told = await Promise.all(models.map((model) => send({ format, model, stream: false, body: WISH })))
    await expectRecorded(told)
    for (const { headers, text } of told)
      expect(Number(headers.get('x-svc-cost-usd'))).toBe(Number(costsIn(text)[0]?.cost))
  })

  test('an answer of a hedge, sent while the first provider is silent, states its cost', async () => {
    const asked = FORMAT_NAMES.map((provider) => `svc/hedged-${provider}`)
    await expectRecorded(await Promise.all(asked.map((model) => send({ format, model, stream: true, body: WISH }))))
  })

  test('a repetition with an idempotency key states the same cost', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const question = { format, model: modelAt('messages'), stream: true, body: WISH, headers }
    const first = await send(question)
    const again = await send(question)
    await expectRecorded([first])
    expect(again.text).toBe(first.text)
  })

  test('an answer without usage states its cost', async () => {
    gateway.upstream.respond((call) => {
      const format = formatOf(call.path)
      const isStream = call.body.stream === true || call.path.includes('stream')
      const text = readFixture(format, `matrix/text.${isStream ? 'sse' : 'json'}`)
      const type = isStream ? 'text/event-stream' : 'application/json'
      return new Response(text.replaceAll(/"usage(Metadata)?"/g, '"other$1"'), { headers: { 'content-type': type } })
    })
    const asked = FORMAT_NAMES.flatMap((provider) =>
      [true, false].map((stream) => ({ stream, model: modelAt(provider) })),
    )
    const told = await Promise.all(asked.map((question) => send({ format, ...question, body: WISH })))
    gateway.upstream.respond(respond)
    await expectRecorded(told)
  })

  test('an answer beyond its output limit states the charged cost', async () => {
    const limits = { messages: { max_tokens: 5 }, responses: { max_output_tokens: 5 } }
    const own = {
      'chat-completions': { max_tokens: 5 },
      'generate-content': { generationConfig: { maxOutputTokens: 5 } },
    }
    const body = { ...WISH, ...{ ...limits, ...own }[format] }
    for (const stream of [true, false])
      await expectRecorded(
        await Promise.all(FORMAT_NAMES.map((name) => send({ format, model: modelAt(name), stream, body }))),
      )
  })

  test.each([true, false])(
    'the cost option changes nothing else, and answers without the option state no cost (stream: %p)',
    async (stream) => {
      gateway.upstream.respond((call) => {
        const text = withTokens(readFixture(formatOf(call.path), `matrix/text.${stream ? 'sse' : 'json'}`), 33, 44)
        return new Response(text, { headers: { 'content-type': stream ? 'text/event-stream' : 'application/json' } })
      })
      const model = modelAt(format)
      const include = format === 'chat-completions' && stream ? { stream_options: { include_usage: true } } : {}
      const plain = await send({ format, model, stream, body: include })
      const declined = await send({ format, model, stream, body: { ...include, usage: { include: false } } })
      const costed = await send({ format, model, stream, body: WISH })
      gateway.upstream.respond(respond)
      expect(costsIn(plain.text)).toEqual([])
      expect(anonymous(declined)).toBe(anonymous(plain))
      expect(anonymous(costed)).not.toBe(anonymous(plain))
      expect(anonymous(costed).replace(/,"cost":[^,]+,"cost_details":\{[^}]*\}/, '')).toBe(anonymous(plain))
    },
  )

  test.each([
    [{ usage: true }, 'usage'],
    [{ usage: { include: 'yes' } }, 'usage.include'],
    [{ usage: { inclde: true } }, 'usage.inclde'],
  ])('the cost option %j is a 400 that names the field', async (body, field) => {
    const { status, text } = await send({ format, model: modelAt(format), stream: false, body: body as JsonObject })
    expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining(field) })
  })
})

/** Its bytes but for what each answer has of its own. */
function anonymous({ text, requestId }: Told): string {
  return text
    .replaceAll(requestId, 'the-request')
    .replaceAll(/resp_\w+/g, 'resp_id')
    .replaceAll(/"(created_at|completed_at|created)": ?[\d.]+/g, '"$1":0')
}

test('an array of generate-content chunks has the cost in its last chunk', async () => {
  const path = `/v1beta/models/${modelAt('messages')}:streamGenerateContent`
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...ask()['generate-content'], ...WISH }),
  })
  const chunks = (await response.json()) as JsonObject[]
  const requestId = response.headers.get('x-request-id') ?? ''
  await expectRecorded([{ status: 200, requestId, text: JSON.stringify(chunks.at(-1)), headers: response.headers }])
  expect(usagesIn(chunks.at(-2))).toEqual([])
})

test('the cost option is not sent to providers', async () => {
  const before = gateway.upstream.calls.length
  for (const format of FORMAT_NAMES)
    for (const provider of FORMAT_NAMES) await send({ format, model: modelAt(provider), stream: true, body: WISH })
  const calls = gateway.upstream.calls.slice(before)
  expect(calls).toHaveLength(16)
  for (const { body } of calls) expect(body).not.toHaveProperty('usage')
})

test('a stored response has the cost when it is read', async () => {
  const body = { ...WISH, store: true }
  const told = await send({ format: 'responses', model: modelAt('messages'), stream: false, body })
  const { id } = JSON.parse(told.text) as { id: string }
  const response = await fetch(`${gateway.url}/v1/responses/${id}`, {
    headers: { authorization: `Bearer ${customer.key}` },
  })
  expect(costsIn(await response.text())).toEqual(costsIn(told.text))
  await expectRecorded([told])
})

test('a chat stream without include_usage has a usage chunk if its cost was requested', async () => {
  for (const asking of [{ body: WISH }, { headers: HEADER }]) {
    const told = await send({ format: 'chat-completions', model: modelAt('messages'), stream: true, ...asking })
    await expectRecorded([told])
  }
})
