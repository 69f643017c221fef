/** One answer and one charge for one idempotency key, however many requests use it, in every format. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, chatStream, eventStream, liveStream, usageOf } from '@test/support/upstream'
import { codeOf, FORMATS, send, settledBalance } from './repeated'

const COST = 10 * 1_000 + 5 * 2_000

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response(null, { status: 599 }) })
})
afterAll(() => gateway.stop())
beforeEach(() => {
  let count = 0
  gateway.upstream.calls.length = 0
  gateway.upstream.respond(({ body }) => {
    count++
    return body.stream
      ? eventStream(...chatStream(['Answer ', String(count)], usageOf(10, 5)))
      : Response.json(chatCompletion(`Answer ${count}`, usageOf(10, 5)))
  })
})

const WAYS = FORMATS.flatMap((format) => [false, true].map((stream) => [format, stream] as const))

test.each(WAYS)('%s, stream %p: a repetition gets the first answer, byte by byte, for free', async (format, stream) => {
  const customer = await gateway.customer('1')
  const wish = { key: customer.key, idempotencyKey: 'order-1', format, stream }
  const first = await send(gateway, wish)
  const text = await first.text()
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null])
  const again = await send(gateway, wish)
  expect(await again.text()).toBe(text)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
  for (const name of ['content-type', 'x-request-id', 'x-svc-cost-usd', 'x-svc-model', 'cache-control'])
    expect(again.headers.get(name)).toBe(first.headers.get(name))
  expect(gateway.upstream.calls).toHaveLength(1)
  expect(await settledBalance(gateway, customer)).toEqual({ spent: COST, records: 1 })
})

test.each(WAYS)(
  '%s, stream %p: twenty concurrent requests are one call, one hold and one charge',
  async (format, stream) => {
    const customer = await gateway.customer('1')
    const release = Promise.withResolvers<void>()
    gateway.upstream.respond(async () => {
      await release.promise
      return stream
        ? eventStream(...chatStream(['One'], usageOf(10, 5)))
        : Response.json(chatCompletion('One', usageOf(10, 5)))
    })
    const wish = { key: customer.key, idempotencyKey: 'at-once', format, stream }
    const refused: (string | null)[] = []
    const answers = Array.from({ length: 20 }, async () => {
      const response = await send(gateway, wish)
      if (response.status === 409) refused.push(response.headers.get('retry-after'))
      return { status: response.status, code: response.status === 409 ? await codeOf(response) : undefined }
    })
    await until(() => refused.length === 19, 'nineteen refusals')
    release.resolve()
    const all = await Promise.all(answers)
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(all.filter(({ code }) => code === 'idempotency_key_in_use')).toHaveLength(19)
    expect(refused.every((seconds) => seconds === '2')).toBe(true)
    expect(gateway.upstream.calls).toHaveLength(1)
    expect(await settledBalance(gateway, customer)).toEqual({ spent: COST, records: 1 })
  },
)

test('another account may use the same idempotency key', async () => {
  const [one, other] = [await gateway.customer('1'), await gateway.customer('1')]
  const first = await send(gateway, { key: one.key, idempotencyKey: 'shared' })
  const second = await send(gateway, { key: other.key, idempotencyKey: 'shared' })
  expect(second.headers.get('idempotent-replayed')).toBeNull()
  expect(await second.text()).not.toBe(await first.text())
  expect(gateway.upstream.calls).toHaveLength(2)
})

test('another API key of the account gets the stored answer; a deactivated key does not', async () => {
  const customer = await gateway.customer('1')
  const { accountId } = customer
  const second = await gateway.apiKeys.create({ accountId, name: 'second' })
  if (second.kind !== 'created') throw new Error('the account exists')
  const wish = { key: customer.key, idempotencyKey: 'of-the-account' }
  await send(gateway, wish)
  expect((await send(gateway, { ...wish, key: second.key })).headers.get('idempotent-replayed')).toBe('true')
  await gateway.gateway.deps.ledger.setKeyState({
    ...{ accountId, keyId: second.keyId, status: 'deactivated' },
    ...{ requestsPerMinute: null, tokensPerMinute: null, concurrency: null },
    ...{ monthlyBudget: null, expiresAtMs: null, allowedModels: null, allowedProviders: null },
  })
  expect((await send(gateway, { ...wish, key: second.key })).status).toBe(401)
})

test.each(FORMATS)('%s: an idempotency key with another body, model or endpoint is a final 409', async (format) => {
  const { key } = await gateway.customer('1')
  const wish = { key, idempotencyKey: 'reused', format }
  const first = await send(gateway, wish)
  const others = [{ prompt: 'Else' }, { model: 'auto-smart' }, { stream: true }]
  const other = FORMATS.find((name) => name !== format) ?? format
  for (const change of [...others, { format: other }]) {
    const refused = await send(gateway, { ...wish, ...change })
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([409, 'false'])
    const text = await refused.clone().text()
    expect(await codeOf(refused)).toBe('idempotency_key_reused')
    expect(text).toContain(String(first.headers.get('x-request-id')))
  }
  expect(gateway.upstream.calls).toHaveLength(1)
})

test('a repetition after a free failure calls a provider again: refusals, failures, streams without content', async () => {
  const customer = await gateway.customer('0.0000001')
  const wish = { key: customer.key, idempotencyKey: 'again' }
  expect((await send(gateway, wish)).status).toBe(402)
  const rich = await gateway.customer('1')
  const mine = { key: rich.key, idempotencyKey: 'again' }
  expect((await send(gateway, { ...mine, model: 'svc/none' })).status).toBe(404)
  gateway.upstream.respond(() => Response.json({ error: { message: 'no' } }, { status: 400 }))
  expect((await send(gateway, mine)).status).toBe(400)
  gateway.upstream.respond(() => Response.json(chatCompletion('At last', usageOf(10, 5))))
  const answer = await send(gateway, mine)
  expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, null])
  expect(await settledBalance(gateway, rich)).toEqual({ spent: COST, records: 1 })
})

test('an answer that broke off and was charged is not repeated', async () => {
  const customer = await gateway.customer('1')
  const live = liveStream()
  gateway.upstream.respond(() => live.response)
  const wish = { key: customer.key, idempotencyKey: 'broken', stream: true }
  const [role, word] = chatStream(['word'])
  live.write(`data: ${JSON.stringify(role)}\n\ndata: ${JSON.stringify(word)}\n\n`)
  const answer = await send(gateway, wish)
  live.error()
  expect(await answer.text()).not.toContain('[DONE]')
  const { spent } = await settledBalance(gateway, customer)
  expect(spent).toBeGreaterThan(0)
  const again = await send(gateway, wish)
  expect([again.status, again.headers.get('x-should-retry')]).toEqual([409, 'false'])
  expect(await codeOf(again)).toBe('idempotency_answer_lost')
  expect(gateway.upstream.calls).toHaveLength(1)
  expect((await settledBalance(gateway, customer)).spent).toBe(spent)
})

test.each([false, true])('an answer too long to store is sent once in full; stream %p', async (stream) => {
  const customer = await gateway.customer('10')
  const long = 'word '.repeat(300_000)
  gateway.upstream.respond(() =>
    stream ? eventStream(...chatStream([long], usageOf(10, 5))) : Response.json(chatCompletion(long, usageOf(10, 5))),
  )
  const wish = { key: customer.key, idempotencyKey: 'long', stream }
  const first = await send(gateway, wish)
  expect((await first.text()).length).toBeGreaterThan(long.length)
  const again = await send(gateway, wish)
  expect([again.status, await codeOf(again)]).toEqual([409, 'idempotency_answer_lost'])
  expect(gateway.upstream.calls).toHaveLength(1)
})

test('an idempotency key survives the death of its gateway, and neither key nor answer is logged', async () => {
  const { key } = await gateway.customer('1')
  const wish = { key, idempotencyKey: 'idempotency-canary-5520' }
  gateway.upstream.respond(() => Response.json(chatCompletion('answer-canary-5520', usageOf(10, 5))))
  const answer = await send(gateway, wish)
  const firstId = answer.headers.get('x-request-id')
  const first = await answer.text()
  const twin = await gateway.twin()
  const again = await send(twin, wish)
  expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', first])
  const lines = [...gateway.logLines, ...twin.logLines].join('\n')
  expect(lines).toContain(`"replayOf":"${firstId}"`)
  expect(lines).not.toContain('canary-5520')
})

/** A picture, of which a large body has few tokens. */
const picture = (bytes: number) => ({
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` },
})

function ask(key: string, bytes: number, headers: Record<string, string> = {}): Promise<Response> {
  const content = bytes > 0 ? [picture(bytes)] : 'Hi'
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content }], max_tokens: 100 }),
  })
}

test.each([0, 1_000_000])('a key at its rate limit still gets its stored answer again: %p bytes', async (bytes) => {
  const { key } = await gateway.customer('1', { requestsPerMinute: 1 })
  const named = { 'idempotency-key': 'again' }
  const first = await ask(key, bytes, named)
  const text = await first.text()
  expect(first.status).toBe(200)
  for (let time = 0; time < 2; time++) expect((await ask(key, bytes)).status).toBe(429)
  const again = await ask(key, bytes, named)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
  expect(await again.text()).toBe(text)
  expect((await ask(key, bytes, { 'idempotency-key': 'another' })).status).toBe(429)
})

test('the body of a repetition counts towards the bytes read for free', async () => {
  const { key } = await gateway.customer('1')
  const named = { 'idempotency-key': 'again' }
  const statuses: number[] = []
  // The share comes back evenly, and a slow machine may give it time to.
  while (statuses.at(-1) !== 429 && statuses.length < 40) statuses.push((await ask(key, 12_000_000, named)).status)
  expect(statuses.length).toBeWithin(5, 40)
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
})
