/** The playground: a signed-in person's chat, reserved and charged like any other, with a key that can be deactivated. */
import { afterAll, beforeAll, beforeEach, describe, expect } from 'bun:test'
import { testPreparedBy } from '@test/ledger/accounts/within-day'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatChunk, chatCompletion, chatStream, eventStream, liveStream, usageOf } from '@test/support/upstream'
import { createCredits } from '@/accounts/credits'
import { nano } from '@/lib/money'
import type { KeyBody } from '@/people/keys/bodies'

type Made = { key: string }

const PATH = '/dashboard/api/a/:accountId/playground/chat'
let gateway: TestGateway
let twin: TestGateway
let person: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response() })
  twin = await gateway.twin()
})
beforeEach(signUp)
afterAll(() => gateway.stop())

async function pay(usd: string): Promise<void> {
  const credits = createCredits(gateway.gateway.database, gateway.gateway.deps.ledger)
  const { accountId } = person.viewer
  await credits.addCredit({ accountId, amount: nano(Number(usd) * 1e9), reference: crypto.randomUUID() })
}

const ask = (more: object = {}, init: RequestInit = {}) =>
  person.fetch(PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }], stream: true, ...more }),
    ...init,
  })

async function playgroundKey(): Promise<KeyBody | undefined> {
  const { body } = await person.json('GET', '/dashboard/api/a/:accountId/keys')
  return (body as { items: KeyBody[] }).items.find(({ builtIn }) => builtIn)
}

async function signUp(): Promise<void> {
  gateway.upstream.respond(({ body }) =>
    body.stream
      ? eventStream(...chatStream(['Hel', 'lo'], usageOf(50, 50)))
      : Response.json(chatCompletion('Hello', usageOf(50, 50))),
  )
  person = await signUpPerson(gateway)
  await pay('10')
}

const test = testPreparedBy(signUp)

describe('an answer', () => {
  test('a playground answer is repeated for the same idempotency key, with its usage record, and charged once', async () => {
    const headers = { 'content-type': 'application/json', 'Idempotency-Key': 'play-1' }
    const first = await (await ask({}, { headers })).text()
    const again = await ask({}, { headers })
    expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', first])
    expect((await gateway.balance(person.viewer.accountId)).spent as number).toBe(150_000)
  })

  test('a playground answer streams, names its provider, and ends with a usage record of the exact cost', async () => {
    const response = await ask()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(response.headers.get('x-svc-model')).toBe('svc/alpha')
    expect(response.headers.get('x-svc-provider')).toBe('provider1')
    const text = await response.text()
    const [before, after] = text.split('data: [DONE]\n\n')
    expect(before).toContain('"content":"Hel"')
    const [event, data] = (after ?? '').trim().split('\n')
    expect(event).toBe('event: usage_record')
    const record = JSON.parse((data ?? '').slice('data: '.length))
    expect(record).toMatchObject({
      ...{ request_id: response.headers.get('x-request-id'), model: 'svc/alpha', cost_usd: '0.00015', rule: 'usage' },
      ...{ input_tokens: 50, output_tokens: 50, cached_tokens: 0, reasoning_tokens: 0 },
    })
    expect(record.duration_ms).toBeGreaterThanOrEqual(record.first_token_ms)
    const balance = await gateway.balance(person.viewer.accountId)
    expect(balance).toMatchObject({ available: nano(9_999_850_000), held: nano(0), spent: nano(150_000) })
  })

  test('a playground answer that is not streamed has its cost in a header', async () => {
    const response = await ask({ stream: false })
    expect(response.headers.get('x-svc-cost-usd')).toBe('0.00015')
    expect(await response.json()).toMatchObject({ model: 'svc/alpha', usage: { total_tokens: 100 } })
  })

  test('a playground answer of a tier names the chosen model', async () => {
    const response = await ask({ model: 'auto-smart' })
    expect(response.headers.get('x-svc-model')).toBe('svc/alpha')
    expect(await response.text()).toContain('"cost_usd":"0.00015"')
  })

  test('a stopped playground answer is charged for the delivered part, and no credit stays held', async () => {
    const live = liveStream()
    gateway.upstream.respond(() => live.response)
    const controller = new AbortController()
    const asked = ask({}, { signal: controller.signal })
    live.write(`data: ${JSON.stringify(chatChunk({ content: 'Hello there' }))}\n\n`)
    const reader = (await asked).body?.getReader()
    await reader?.read()
    controller.abort()
    const { accountId } = person.viewer
    await until(async () => (await gateway.balance(accountId)).spent > 0)
    expect(await gateway.balance(accountId)).toMatchObject({ held: nano(0) })
  })

  test('a playground answer that the provider broke off has no usage record event', async () => {
    gateway.upstream.respond(() => eventStream(chatChunk({ content: 'Hel' })))
    const text = await (await ask()).text()
    expect(text).toContain('"error"')
    expect(text).not.toContain('usage_record')
  })

  test('an API key’s answer has the usage record event only if requested', async () => {
    const { body } = await person.json('POST', '/dashboard/api/a/:accountId/keys', { name: 'own' })
    const chat = (headers: Record<string, string>) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${(body as Made).key}` },
        body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }], stream: true }),
      })
    expect(await (await chat({})).text()).toEndWith('data: [DONE]\n\n')
    expect(await (await chat({ 'x-svc-usage-record': 'true' })).text()).toContain('"cost_usd":"0.00015"')
  })
})

describe('paying for the playground', () => {
  test('the account pays through a built-in key, whose page shows the usage', async () => {
    await (await ask()).text()
    await (await twinAsk()).text()
    const key = await until(async () => {
      const found = await playgroundKey()
      return found?.spentThisMonthUsd === '0.0003' && found
    })
    expect(key).toMatchObject({ name: 'Playground', builtIn: true, status: 'active' })
    const { body } = await person.json('GET', `/dashboard/api/a/:accountId/keys/${key.id}`)
    expect(body).toMatchObject({ total: { requests: 2, spentUsd: '0.0003' } })
  })

  test('the built-in key’s limits apply on every gateway: budget, models, deactivation', async () => {
    await (await ask()).text()
    const key = await playgroundKey()
    const address = `/dashboard/api/a/:accountId/keys/${key?.id}`
    expect((await person.json('DELETE', address)).status).toBe(409)
    expect((await person.json('PATCH', address, { name: 'Mine' })).status).toBe(409)
    await person.json('PATCH', address, { monthlyBudgetUsd: '0.0001' })
    expect(await refusal(await ask())).toMatchObject({ status: 402, code: 'key_budget_exceeded' })
    await person.json('PATCH', address, { monthlyBudgetUsd: null })
    await person.json('POST', `${address}/deactivate`, {})
    for (const asked of [twinAsk(), ask()]) {
      expect(await refusal(await asked)).toMatchObject({ status: 403, code: 'playground_deactivated' })
    }
    await person.json('POST', `${address}/activate`, {})
    expect((await ask()).status).toBe(200)
  })

  test('an account without credit gets no playground answer, and no provider is called', async () => {
    const calls = gateway.upstream.calls.length
    person = await signUpPerson(gateway)
    expect(await refusal(await ask())).toMatchObject({ status: 402 })
    expect(gateway.upstream.calls.length).toBe(calls)
  })
})

describe('permissions', () => {
  test('without a session the playground is refused, whatever key is sent', async () => {
    const { body } = await person.json('POST', '/dashboard/api/a/:accountId/keys', { name: 'own' })
    const response = await fetch(gateway.url + PATH, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', origin: gateway.url },
        authorization: `Bearer ${(body as Made).key}`,
      },
      body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }),
    })
    expect(await refusal(response)).toMatchObject({ status: 401, code: 'not_signed_in' })
  })

  test('an invalid playground request gets an error', async () => {
    expect(await refusal(await ask({ messages: [] }))).toMatchObject({ status: 400, param: 'messages' })
    expect(await refusal(await ask({ model: 'svc/none' }))).toMatchObject({ status: 404, code: 'model_not_found' })
    const headers = { 'content-type': 'text/plain' }
    expect(await refusal(await ask({}, { headers }))).toMatchObject({ status: 415 })
  })
})

async function twinAsk(): Promise<Response> {
  return await fetch(twin.url + PATH.replace(':accountId', person.viewer.accountId), {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: twin.url, cookie: person.cookie },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }], stream: true }),
  })
}

async function refusal(response: Response): Promise<Record<string, unknown>> {
  const { error } = (await response.json()) as { error: Record<string, unknown> }
  return { status: response.status, ...error }
}
