/** Cached answers in every format: complete, free, and only for equal requests of keys with the same rules. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { answerEither, sellEmbeddings } from '@test/gateway/embed/providers'
import { answerCohere, sellRerank } from '@test/gateway/media/rankers'
import { answerSound, sellAudio } from '@test/gateway/media/sounds'
import { codeOf, settledBalance } from '@test/http/idempotency/repeated'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { asGateway } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion, chatStream, eventStream, liveStream, usageOf } from '@test/support/upstream'
import { Redis } from 'ioredis'
import { nano } from '@/lib/money'

const COST = 10 * 1_000 + 5 * 2_000
const FREE_PER_MINUTE = 600
const AT_ONCE = 30

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({
    respond: () => new Response(null, { status: 599 }),
    catalog(file) {
      sellEmbeddings(file)
      sellRerank(file)
      sellAudio(file)
      file.limits.requestsPerMinute = FREE_PER_MINUTE
      const beta = { ...file.models[0], id: 'svc/beta', name: 'Beta' }
      file.models.push(beta)
    },
  })
})
afterAll(() => gateway.stop())
beforeEach(() => {
  let count = 0
  gateway.upstream.calls.length = 0
  gateway.upstream.respond((call) => {
    if (call.path.includes('mbed')) return answerEither(call)
    if (call.path.endsWith('/rerank')) return answerCohere(call)
    if (call.path.includes('/audio/')) return answerSound(call)
    count++
    return call.body.stream
      ? eventStream(...chatStream(['Answer ', String(count)], usageOf(10, 5)))
      : Response.json(chatCompletion(`Answer ${count}`, usageOf(10, 5)))
  })
})

type Sent = { path: string; body: Record<string, unknown> }

const MESSAGES = [{ role: 'user', content: 'Hi' }]
const CHAT: Sent = {
  path: '/v1/chat/completions',
  body: { model: 'svc/alpha', messages: MESSAGES, max_tokens: 100 },
}
const CONTENTS = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
const REQUESTS: [name: string, sent: Sent][] = [
  ['chat-completions', CHAT],
  ['chat-completions, stream', { ...CHAT, body: { ...CHAT.body, stream: true } }],
  ['messages', { path: '/v1/messages', body: CHAT.body }],
  ['messages, stream', { path: '/v1/messages', body: { ...CHAT.body, stream: true } }],
  ['generate-content', { path: '/v1beta/models/svc/alpha:generateContent', body: CONTENTS }],
  ['generate-content, stream', { path: '/v1beta/models/svc/alpha:streamGenerateContent?alt=sse', body: CONTENTS }],
  ['responses', { path: '/v1/responses', body: { model: 'svc/alpha', input: 'Hi', store: false } }],
  [
    'responses, stream',
    { path: '/v1/responses', body: { model: 'svc/alpha', input: 'Hi', store: false, stream: true } },
  ],
  ['embeddings', { path: '/v1/embeddings', body: { model: 'svc/embed', input: ['Hi'] } }],
  ['rerank', { path: '/v1/rerank', body: { model: 'svc/rerank', query: 'Hi', documents: ['Ho'] } }],
  ['rerank, version 2', { path: '/v2/rerank', body: { model: 'svc/rerank', query: 'Hi', documents: ['Ho'] } }],
  [
    'embeddings of generate-content',
    { path: '/v1beta/models/svc/embed:embedContent', body: { content: { parts: [{ text: 'Hi' }] } } },
  ],
]

type Headers = Record<string, string>

function post(
  { key }: { key: string },
  { path, body }: Sent,
  headers: Headers = { 'x-svc-cache': '600' },
  url = gateway.url,
) {
  return fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

/** Sends a request and returns what the answer says of the cache, once all of it was read. */
async function cacheOf(...asked: Parameters<typeof post>): Promise<string | null> {
  const answer = await post(...asked)
  const text = await answer.text()
  expect([answer.status, text]).toEqual([200, text])
  return answer.headers.get('x-svc-cache')
}

const withSvc = ({ path, body }: Sent, svc: object): Sent => ({ path, body: { ...body, svc } })

test.each(REQUESTS)('%s: an equal request gets the stored answer, byte by byte, for free', async (_, sent) => {
  const customer = await gateway.customer('1')
  const first = await post(customer, sent)
  const text = await first.text()
  expect([first.status, first.headers.get('x-svc-cache'), first.headers.get('age')]).toEqual([200, 'miss', null])
  const before = await settledBalance(gateway, customer)
  const again = await post(customer, sent)
  expect(await again.text()).toBe(text)
  expect([again.status, again.headers.get('x-svc-cache'), again.headers.get('x-svc-cost-usd')]).toEqual([
    200,
    'hit',
    '0',
  ])
  expect(Number(again.headers.get('age'))).toBeWithin(0, 600)
  for (const name of ['content-type', 'x-svc-model', 'x-svc-provider', 'cache-control'])
    expect(again.headers.get(name)).toBe(first.headers.get(name))
  expect(again.headers.get('x-request-id')).toMatch(/^req_/)
  expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
  expect(gateway.upstream.calls).toHaveLength(1)
  expect(await settledBalance(gateway, customer)).toEqual(before)
  expect(before.records).toBe(1)
})

test.each(REQUESTS)(
  '%s: nothing is stored or read unless the request asks for the cache; the header overrides svc.cache',
  async (_, sent) => {
    const customer = await gateway.customer('1')
    expect(await cacheOf(customer, sent, {})).toBeNull()
    expect(await cacheOf(customer, sent)).toBe('miss')
    expect(await cacheOf(customer, sent, {})).toBeNull()
    expect(await cacheOf(customer, withSvc(sent, { cache: 60 }), {})).toBe('hit')
    expect(await cacheOf(customer, withSvc(sent, { cache: 1 }), { 'x-svc-cache': '600' })).toBe('hit')
    expect(gateway.upstream.calls).toHaveLength(3)
  },
)

const BAD_SECONDS = ['0', '-1', '86401', '1.5', '1e3', 'yes', '', '060']

test.each(BAD_SECONDS)('x-svc-cache: %p is a 400 that names the header', async (seconds) => {
  const refused = await post(await gateway.customer('1'), CHAT, { 'x-svc-cache': seconds })
  expect([refused.status, ((await refused.json()) as { error: object }).error]).toEqual([
    400,
    expect.objectContaining({ param: 'x-svc-cache' }),
  ])
  expect(gateway.upstream.calls).toHaveLength(0)
})

test.each([0, 86_401, 1.5, '60', true])('svc.cache: %p is a 400 that names the field', async (cache) => {
  const refused = await post(await gateway.customer('1'), withSvc(CHAT, { cache }), {})
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('svc.cache')])
})

const ZERO_RETENTION: [name: string, sent: Sent, headers: Headers][] = [
  ['svc.zero_retention', withSvc(CHAT, { zero_retention: true }), { 'x-svc-cache': '60' }],
  ['svc.zero_retention and svc.cache', withSvc(CHAT, { zero_retention: true, cache: 60 }), {}],
  ['provider.zdr', { ...CHAT, body: { ...CHAT.body, provider: { zdr: true } } }, { 'x-svc-cache': '60' }],
  [
    'svc.zeroRetention',
    withSvc({ path: '/v1beta/models/svc/alpha:generateContent', body: CONTENTS }, { zeroRetention: true }),
    { 'x-svc-cache': '60' },
  ],
  [
    'zero retention of embeddings',
    withSvc({ path: '/v1/embeddings', body: { model: 'svc/embed', input: 'Hi' } }, { zero_retention: true }),
    { 'x-svc-cache': '60' },
  ],
]

test.each(ZERO_RETENTION)(
  '%s: a request for zero retention that also asks for the cache is refused',
  async (_, sent, headers) => {
    const refused = await post(await gateway.customer('1'), sent, headers)
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('stores the answer')])
  },
)

const WISH = { 'x-svc-cache': '600' }
const changed = (change: object): Sent => ({ ...CHAT, body: { ...CHAT.body, ...change } })
const OTHERS: [what: string, sent: Sent, headers: Headers][] = [
  ['another text', changed({ messages: [{ role: 'user', content: 'Ho' }] }), WISH],
  ['another model', changed({ model: 'svc/beta' }), WISH],
  ['another limit', changed({ max_tokens: 101 }), WISH],
  ['a stream', changed({ stream: true }), WISH],
  ['another format', { ...CHAT, path: '/v1/messages' }, WISH],
  ['another end user', changed({ user: 'ada' }), WISH],
  ['another preference', withSvc(CHAT, { sort: 'price', cache: 60 }), WISH],
  ['the cost in the answer', CHAT, { ...WISH, 'x-svc-usage-record': 'true' }],
  ['another quality', CHAT, { ...WISH, 'x-svc-quality': '0.1' }],
]

test.each(OTHERS)('%s makes a different request, which gets no cached answer', async (_, sent, headers) => {
  const customer = await gateway.customer('1')
  expect(await cacheOf(customer, CHAT)).toBe('miss')
  expect(await cacheOf(customer, sent, headers)).toBe('miss')
  expect(gateway.upstream.calls).toHaveLength(2)
})

test('an account gets no cached answer of another account', async () => {
  expect(await cacheOf(await gateway.customer('1'), CHAT)).toBe('miss')
  expect(await cacheOf(await gateway.customer('1'), CHAT)).toBe('miss')
})

async function secondKey(
  { accountId }: Customer,
  rules: { allowedModels?: string[]; allowedProviders?: string[] } = {},
) {
  const created = await gateway.apiKeys.create({ accountId, name: 'second', ...rules })
  if (created.kind !== 'created') throw new Error('the account exists')
  return created
}

test('another key with the same rules gets the cached answer, at any gateway of the service', async () => {
  const customer = await gateway.customer('1')
  const second = await secondKey(customer)
  expect(await cacheOf(customer, CHAT)).toBe('miss')
  expect(await cacheOf(second, CHAT)).toBe('hit')
  const twin = await gateway.twin()
  expect(await cacheOf(second, CHAT, { 'x-svc-cache': '600' }, twin.url)).toBe('hit')
  expect(gateway.upstream.calls).toHaveLength(1)
})

const RULES = [
  { allowedModels: ['svc/alpha'] },
  { allowedProviders: ['provider1'] },
  { allowedModels: ['svc/alpha'], allowedProviders: ['provider1'] },
]

test.each(RULES)('a key with other rules gets no cached answer: %j', async (rules) => {
  const customer = await gateway.customer('1')
  const second = await secondKey(customer, rules)
  expect(await cacheOf(customer, CHAT)).toBe('miss')
  expect(await cacheOf(second, CHAT)).toBe('miss')
  expect(await cacheOf(second, CHAT)).toBe('hit')
  expect(await cacheOf(customer, CHAT)).toBe('hit')
})

test('a key that may no longer call the model is refused, although it got the cached answer before', async () => {
  const customer = await gateway.customer('1')
  expect(await cacheOf(customer, CHAT)).toBe('miss')
  await gateway.apiKeys.change(customer.keyId, { allowedModels: ['svc/beta'] })
  expect((await post(customer, CHAT)).status).toBe(403)
})

test('a cache hit is refused like a paid request: inactive key, suspended account, rate limit, spent budget', async () => {
  const inactive = await gateway.customer('1')
  expect(await cacheOf(inactive, CHAT)).toBe('miss')
  await gateway.apiKeys.deactivate(inactive.keyId)
  expect((await post(inactive, CHAT)).status).toBe(401)

  const suspended = await gateway.customer('1')
  expect(await cacheOf(suspended, CHAT)).toBe('miss')
  const { accountId } = suspended
  const limits = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null }
  await gateway.gateway.deps.ledger.setAccountState({ accountId, status: 'suspended', ...limits })
  expect((await post(suspended, CHAT)).status).toBe(403)

  const limited = await gateway.customer('1', { requestsPerMinute: 1 })
  expect(await cacheOf(limited, CHAT)).toBe('miss')
  expect((await post(limited, CHAT)).status).toBe(429)

  const sparing = await gateway.customer('1')
  expect(await cacheOf(sparing, CHAT)).toBe('miss')
  await settledBalance(gateway, sparing)
  await gateway.apiKeys.change(sparing.keyId, { monthlyBudget: nano(COST) })
  expect((await post(sparing, CHAT)).status).toBe(402)
})

test('cache hits count towards the limit of free answers', async () => {
  const customer = await gateway.customer('1', { requestsPerMinute: 10_000 })
  expect(await cacheOf(customer, CHAT)).toBe('miss')
  const statuses: number[] = []
  while (statuses.at(-1) !== 429 && statuses.length < 4 * FREE_PER_MINUTE) {
    const answer = await post(customer, CHAT)
    statuses.push(answer.status)
    if (answer.status === 429) expect(await codeOf(answer)).toBe('too_many_unpaid')
    else await answer.text()
  }
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
  expect(gateway.upstream.calls).toHaveLength(1)
})

test.each([false, true])(
  'equal requests at once are each charged; as many after them are free; stream %p',
  async (stream) => {
    const customer = await gateway.customer('1')
    const sent = { ...CHAT, body: { ...CHAT.body, stream } }
    const release = Promise.withResolvers<void>()
    gateway.upstream.respond(async () => {
      await release.promise
      return stream ? eventStream(...chatStream(['One'], usageOf(10, 5))) : Response.json(chatCompletion('One'))
    })
    const all = Array.from({ length: AT_ONCE }, () => cacheOf(customer, sent))
    await until(() => gateway.upstream.calls.length === AT_ONCE, 'all calls')
    release.resolve()
    expect(new Set(await Promise.all(all))).toEqual(new Set(['miss']))
    const paid = { spent: AT_ONCE * COST, records: AT_ONCE }
    expect(await settledBalance(gateway, customer)).toEqual(paid)
    const after = await Promise.all(Array.from({ length: AT_ONCE }, () => cacheOf(customer, sent)))
    expect(new Set(after)).toEqual(new Set(['hit']))
    expect(await settledBalance(gateway, customer)).toEqual(paid)
    expect(gateway.upstream.calls).toHaveLength(AT_ONCE)
  },
)

test.each([false, true])('a failed answer is not cached; stream %p', async (stream) => {
  const customer = await gateway.customer('1')
  const sent = { ...CHAT, body: { ...CHAT.body, stream } }
  gateway.upstream.respond(() => Response.json({ error: { message: 'no' } }, { status: 400 }))
  expect((await post(customer, sent)).status).toBe(400)
  gateway.upstream.respond(() => (stream ? eventStream(...chatStream(['One'])) : Response.json(chatCompletion('One'))))
  expect(await cacheOf(customer, sent)).toBe('miss')
  expect(await cacheOf(customer, sent)).toBe('hit')
})

test('a stream that broke off is not cached', async () => {
  const customer = await gateway.customer('1')
  const sent = { ...CHAT, body: { ...CHAT.body, stream: true } }
  const live = liveStream()
  gateway.upstream.respond(() => live.response)
  const [role, word] = chatStream(['word'])
  live.write(`data: ${JSON.stringify(role)}\n\ndata: ${JSON.stringify(word)}\n\n`)
  const broken = await post(customer, sent)
  live.error()
  expect(await broken.text()).not.toContain('[DONE]')
  gateway.upstream.respond(() => eventStream(...chatStream(['Whole'])))
  expect(await cacheOf(customer, sent)).toBe('miss')
})

test('a stream whose client disconnected is not cached, and is charged like any other', async () => {
  const customer = await gateway.customer('1')
  const sent = { ...CHAT, body: { ...CHAT.body, stream: true } }
  const live = liveStream()
  gateway.upstream.respond(() => live.response)
  const [role, word] = chatStream(['word'])
  live.write(`data: ${JSON.stringify(role)}\n\ndata: ${JSON.stringify(word)}\n\n`)
  const left = await post(customer, sent)
  const reader = left.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  const { spent, records } = await until(async () => {
    const now = await settledBalance(gateway, customer)
    return now.records === 1 && now
  }, 'the hang-up to be charged')
  expect([spent > 0, records]).toEqual([true, 1])
  gateway.upstream.respond(() => eventStream(...chatStream(['Whole'])))
  expect(await cacheOf(customer, sent)).toBe('miss')
})

test.each([false, true])('an answer above 1 MiB is sent in full, and not cached; stream %p', async (stream) => {
  const customer = await gateway.customer('10')
  const sent = { ...CHAT, body: { ...CHAT.body, stream } }
  const long = 'word '.repeat(300_000)
  gateway.upstream.respond(() =>
    stream ? eventStream(...chatStream([long], usageOf(10, 5))) : Response.json(chatCompletion(long, usageOf(10, 5))),
  )
  const first = await post(customer, sent)
  expect((await first.text()).length).toBeGreaterThan(long.length)
  expect(await cacheOf(customer, sent)).toBe('miss')
})

test('an answer that was shortened for lack of credit is not cached', async () => {
  const customer = await gateway.customer('0.01')
  const { max_tokens: _, ...body } = CHAT.body
  const first = await post(customer, { ...CHAT, body })
  await first.text()
  expect(Number(first.headers.get('x-svc-max-output-tokens'))).toBeGreaterThan(0)
  expect(await cacheOf(customer, { ...CHAT, body })).toBe('miss')
})

test('a stored conversation is neither cached nor answered from the cache', async () => {
  const customer = await gateway.customer('1')
  const stored = { path: '/v1/responses', body: { model: 'svc/alpha', input: 'Hi' } }
  const first = await post(customer, stored)
  const { id } = (await first.json()) as { id: string }
  expect(first.headers.get('x-svc-cache')).toBe('bypass')
  expect(await cacheOf(customer, stored)).toBe('bypass')
  const next = { ...stored, body: { ...stored.body, previous_response_id: id, store: false } }
  expect(await cacheOf(customer, next)).toBe('bypass')
  expect(await cacheOf(customer, next)).toBe('bypass')
})

test('sound is neither cached nor answered from the cache', async () => {
  const customer = await gateway.customer('1')
  const speech = { path: '/v1/audio/speech', body: { model: 'svc/tts', input: 'Hi', voice: 'alloy' } }
  expect(await cacheOf(customer, speech)).toBe('bypass')
  expect(await cacheOf(customer, withSvc(speech, { cache: 60 }), {})).toBe('bypass')
  expect(gateway.upstream.calls).toHaveLength(2)
})

test('an answer that is older than the caller accepts is replaced by a new one', async () => {
  const customer = await gateway.customer('1')
  const redis = new Redis(asGateway(gateway.stores.redisUrl))
  expect(await cacheOf(customer, CHAT)).toBe('miss')
  const names = await redis.zrange(`idempotency:{${customer.accountId}}:answers`, '0', '-1')
  const [digest] = (names[0] ?? '').split(':')
  await redis.hincrby(`idempotency:{${customer.accountId}}:claim:${digest}`, 'atMs', -120_000)
  const aged = await post(customer, CHAT)
  expect(Number(aged.headers.get('age'))).toBeWithin(120, 600)
  expect(await cacheOf(customer, CHAT, { 'x-svc-cache': '119' })).toBe('miss')
  const fresh = await post(customer, CHAT)
  expect([fresh.headers.get('x-svc-cache'), Number(fresh.headers.get('age')) < 119]).toEqual(['hit', true])
  expect(await fresh.text()).toContain('Answer 2')
  redis.disconnect()
})

test.each([false, true])('a request may use an idempotency key and the cache together; stream %p', async (stream) => {
  const customer = await gateway.customer('1')
  const sent = { ...CHAT, body: { ...CHAT.body, stream } }
  const named = { 'x-svc-cache': '600', 'idempotency-key': 'one' }
  const first = await post(customer, sent, named)
  const text = await first.text()
  const replayed = await post(customer, sent, named)
  expect([await replayed.text(), replayed.headers.get('idempotent-replayed')]).toEqual([text, 'true'])
  const other = { ...named, 'idempotency-key': 'two' }
  const hit = await post(customer, sent, other)
  expect([await hit.text(), hit.headers.get('x-svc-cache'), hit.headers.get('idempotent-replayed')]).toEqual([
    text,
    'hit',
    null,
  ])
  const again = await post(customer, sent, other)
  expect([await again.text(), again.headers.get('idempotent-replayed')]).toEqual([text, 'true'])
  expect(gateway.upstream.calls).toHaveLength(1)
  expect(await settledBalance(gateway, customer)).toEqual({ spent: COST, records: 1 })
})

test('cache hits and misses are counted and logged, without content', async () => {
  const customer = await gateway.customer('1')
  const counts = async () => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text()
    return ['hit', 'miss', 'kept', 'bypass'].map((outcome) =>
      Number(new RegExp(`svc_cached_answers_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1]),
    )
  }
  const before = await counts()
  gateway.upstream.respond(() => Response.json(chatCompletion('answer-canary-7261', usageOf(10, 5))))
  const first = await post(customer, CHAT)
  await first.text()
  const hit = await post(customer, CHAT)
  await hit.text()
  const after = await counts()
  expect(after.map((count, index) => count - (before[index] ?? 0))).toEqual([1, 1, 1, 0])
  const lines = gateway.logLines.filter((line) => line.includes(customer.accountId)).join('\n')
  expect(lines).toContain(`"replayOf":"${first.headers.get('x-request-id')}"`)
  expect(lines).not.toContain('canary-7261')
})

test('a service that stores no answers sends each request to a provider', async () => {
  const { redisUrl, databaseUrl } = gateway.stores
  const forgetful = await startGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    environment: { IDEMPOTENCY_KEYS: 'off' },
    redisUrl,
    databaseUrl,
  })
  const customer = await forgetful.customer('1')
  const headers = { 'x-svc-cache': '60' }
  expect(await cacheOf(customer, CHAT, headers, forgetful.url)).toBe('bypass')
  expect(await cacheOf(customer, CHAT, headers, forgetful.url)).toBe('bypass')
  expect(forgetful.upstream.calls).toHaveLength(2)
  await forgetful.stop()
})
