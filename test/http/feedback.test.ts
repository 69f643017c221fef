/** `POST /v1/feedback`: which requests can be rated, how often a rating counts, and what operators see. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'

let gateway: TestGateway
let ada: Customer
let eve: Customer

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('A secret answer')),
    catalog(file) {
      const [tier] = file.tiers
      file.tiers = ['auto-all', 'auto-none', 'auto-rated', 'auto-cut'].map((name) => ({
        ...{ ...tier, id: name, observe: name === 'auto-none' ? 0 : 1 },
      }))
    },
  })
  ada = await gateway.customer('2')
  eve = await gateway.customer('2')
})
afterAll(() => gateway.stop())

const JSON_HEADERS = { 'content-type': 'application/json' }

/** Asks, and returns the id of the request once the history has it. */
async function chat(customer: Customer, model: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...JSON_HEADERS, authorization: `Bearer ${customer.key}`, ...headers },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'A secret question' }] }),
  })
  expect(response.status).toBe(200)
  const id = response.headers.get('x-request-id') ?? ''
  await until(async () => {
    const rows = await gateway.gateway.database.sql`SELECT FROM usage_records WHERE request_id = ${id}`
    return rows.length > 0
  }, 'the usage record')
  return id
}

async function rate(customer: Customer, body: unknown, headers?: Record<string, string>) {
  const response = await fetch(`${gateway.url}/v1/feedback`, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...(headers ?? { authorization: `Bearer ${customer.key}` }) },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** The sums of today and yesterday: the day may turn while a test runs. */
async function sumsOf(tier: string) {
  await gateway.gateway.deps.observer.flush()
  const { observed } = await gateway.gateway.deps.dashboard.administration.tierReport(2)
  return observed.filter((row) => row.tier === tier)
}

describe('a rating', () => {
  test('a rating counts once for the tier and the model that answered; the last rating replaces earlier ones', async () => {
    const id = await chat(ada, 'auto-rated')
    const steps = [
      ['up', 1, 0],
      ['up', 1, 0],
      ['down', 0, 1],
      ['down', 0, 1],
      ['up', 1, 0],
    ] as const
    for (const [rating, thumbsUp, thumbsDown] of steps) {
      expect(await rate(ada, { request_id: id, rating })).toEqual({ status: 200, body: { request_id: id, rating } })
      expect(await sumsOf('auto-rated')).toMatchObject([{ model: 'svc/alpha', answers: 1, thumbsUp, thumbsDown }])
    }
  })

  test('concurrent ratings of one request count once', async () => {
    const id = await chat(ada, 'svc/alpha')
    const answers = await Promise.all(Array.from({ length: 8 }, () => rate(ada, { request_id: id, rating: 'down' })))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(await sumsOf('svc/alpha')).toMatchObject([{ answers: 0, thumbsUp: 0, thumbsDown: 1 }])
  })

  test('a rating accepts the key header of any format, and is free', async () => {
    const id = await chat(ada, 'auto-none')
    const before = await gateway.balance(ada.accountId)
    for (const name of ['x-api-key', 'x-goog-api-key']) {
      expect((await rate(ada, { request_id: id, rating: 'up' }, { [name]: ada.key })).status).toBe(200)
    }
    expect(await gateway.balance(ada.accountId)).toEqual(before)
  })

  test('a rating of another account’s or an unknown request is a 404 and counts nowhere', async () => {
    const id = await chat(ada, 'auto-cut')
    const foreign = await rate(eve, { request_id: id, rating: 'down' })
    const unknown = await rate(eve, { request_id: `req_${'0'.repeat(32)}`, rating: 'down' })
    expect(foreign).toEqual(unknown)
    expect(foreign).toMatchObject({ status: 404, body: { error: { code: 'request_not_found' } } })
    expect((await rate(eve, { request_id: 'req_\u0000', rating: 'down' })).status).toBe(404)
    expect(await sumsOf('auto-cut')).toMatchObject([{ thumbsUp: 0, thumbsDown: 0 }])
  })

  test('an invalid rating is refused, and the error names the field', async () => {
    const id = `req_${'0'.repeat(32)}`
    expect((await rate(ada, { request_id: id, rating: 'great' })).body.error).toMatchObject({ param: 'rating' })
    expect((await rate(ada, { request_id: 7, rating: 'up' })).body.error).toMatchObject({ param: 'request_id' })
    expect((await rate(ada, { request_id: id, rating: 'up', note: 'x'.repeat(5_000) })).status).toBe(413)
    expect((await rate(ada, { request_id: id, rating: 'up' }, {})).status).toBe(401)
  })
})

test('a tier’s answers are counted by model, and a question repeated within a minute counts as a retry', async () => {
  const headers = { 'x-svc-session': 'a-secret-session' }
  await chat(ada, 'auto-all', headers)
  await chat(ada, 'auto-all', headers)
  expect(await sumsOf('auto-all')).toMatchObject([{ model: 'svc/alpha', answers: 2, outputTokens: 10, retries: 1 }])
  await chat(ada, 'auto-all')
  expect(await sumsOf('auto-all')).toMatchObject([{ answers: 3, retries: 1 }])
  await chat(ada, 'auto-all')
  expect(await sumsOf('auto-all')).toMatchObject([{ answers: 4, retries: 2 }])
})

test('a tier with the share 0 counts no answers', async () => {
  await chat(eve, 'auto-none')
  expect((await sumsOf('auto-none')).every(({ answers, retries }) => answers === 0 && retries === 0)).toBe(true)
})

test('feedback stores no questions, answers or sessions', async () => {
  await gateway.gateway.deps.observer.flush()
  const { sql } = gateway.gateway.database
  const kept = JSON.stringify([await sql`SELECT * FROM tier_observations`, await sql`SELECT * FROM feedback`])
  expect(kept).toContain('auto-all')
  expect(kept).not.toContain('secret')
})
