/** The money of batches: each line has its own hold and charge, at the batch price, within the credit. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, type UpstreamCall, usageOf } from '@test/support/upstream'
import { addCredit } from '@test/usage/customer'
import { begin, CHAT, chatLine, clientOf, ended, hurry, jsonl, paused, resultLines, upload } from './world'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({
    respond: answer,
    catalog(file) {
      file.models.push({ ...file.models[0], id: 'svc/half', batchDiscount: 0.5 })
      file.models.push({
        ...{ id: 'svc/embed', kind: 'embedding', name: 'Embed', created: 1_760_000_000, ownedBy: 'provider1' },
        targets: [{ provider: 'provider1', model: 'embed-upstream' }],
        pricing: { inputPer1mTokens: 1 },
        ...{ contextLength: 8_000, batchDiscount: 0.25 },
      })
    },
  })
})
afterAll(() => gateway.stop())

function answer({ path, body }: UpstreamCall): Response {
  if (path.endsWith('/embeddings')) {
    const data = [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }]
    return Response.json({
      object: 'list',
      model: 'embed-upstream',
      data,
      usage: { prompt_tokens: 4, total_tokens: 4 },
    })
  }
  return Response.json(chatCompletion('Yes', usageOf(10, Number(body.max_tokens ?? body.max_completion_tokens))))
}

/** 10,000 tokens of output at 2 USD per 1,000,000: a cent of which ten tokens of input are a thousandth. */
const LINE_NANO = 10_000 * 2_000 + 10 * 1_000

test('a batch that costs twice the credit pauses when the credit is used up, and continues after a top-up', async () => {
  const customer = await gateway.customer('1')
  const client = clientOf(gateway.url, customer)
  const made = await begin(
    client,
    Array.from({ length: 100 }, (_, index) => chatLine(`${index}`, { max_tokens: 10_000 })),
  )
  expect(await paused(gateway, made.id)).toBe('no_credit')
  expect(await client.batches.retrieve(made.id)).toMatchObject({
    ...{ status: 'in_progress', svc: { paused: { reason: 'no_credit' } } },
  })
  const { available, held } = await until(async () => {
    const balance = await gateway.balance(customer.accountId)
    return balance.held === 0 && balance
  }, 'its lines to end')
  expect(Number(held)).toBe(0)
  expect(available).toBeGreaterThanOrEqual(0)
  expect(available).toBeLessThan(LINE_NANO * 2)
  const { completed } = (await client.batches.retrieve(made.id)).request_counts ?? { completed: 0 }
  expect(Number(available)).toBe(1_000_000_000 - completed * LINE_NANO)
  // What waits for credit is no failed request, and shuts nobody out.
  expect([
    ...(await gateway.gateway.database
      .sql`SELECT status FROM failed_requests WHERE account_id = ${customer.accountId}`),
  ]).toEqual([])

  await addCredit(gateway, customer.accountId, '2')
  await hurry(gateway, made.id)
  const batch = await ended(client, made.id)
  expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 100, completed: 100, failed: 0 } })
  const after = await gateway.balance(customer.accountId)
  expect(Number(after.available)).toBe(3_000_000_000 - 100 * LINE_NANO)
  expect(batch).toMatchObject({ svc: { cost_usd: (100 * LINE_NANO) / 1e9, paused: null } })
})

test.each([
  ['svc/half', CHAT, { max_tokens: 10 }, (10 * 1_000 + 10 * 2_000) / 2],
  ['svc/embed', '/v1/embeddings', { input: 'Hello' }, (4 * 1_000) / 4],
])('%s has its batch price in a batch, and its usual price elsewhere', async (model, endpoint, body, cost) => {
  const customer = await gateway.customer('1')
  const client = clientOf(gateway.url, customer)
  const line = { custom_id: 'a', method: 'POST', url: endpoint, body: { ...chatLine('a').body, ...body, model } }
  if (endpoint !== CHAT)
    for (const name of ['messages', 'max_tokens']) delete (line.body as Record<string, unknown>)[name]
  const batch = await ended(client, (await begin(client, [line], endpoint as typeof CHAT)).id)
  expect(await resultLines(client, batch.output_file_id)).toHaveLength(1)
  const spent = async () => Number((await gateway.balance(customer.accountId)).spent)
  expect(await spent()).toBe(cost)
  expect(batch).toMatchObject({ svc: { cost_usd: cost / 1e9 } })
  const headers = { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' }
  await (await fetch(gateway.url + endpoint, { method: 'POST', headers, body: JSON.stringify(line.body) })).text()
  const listed = await (await fetch(`${gateway.url}/v1/models/${model}`, { headers })).json()
  expect(await spent()).toBe(cost + cost / listed.batch_discount)
})

test('a batch pauses while its key is deactivated, and continues once the key is active', async () => {
  const customer = await gateway.customer('1')
  const client = clientOf(gateway.url, customer)
  const input_file_id = await upload(client, jsonl(Array.from({ length: 40 }, (_, index) => chatLine(`${index}`))))
  const asked = Promise.withResolvers<void>()
  const open = Promise.withResolvers<void>()
  gateway.upstream.respond(async (call) => {
    asked.resolve()
    await open.promise
    return answer(call)
  })
  const made = await client.batches.create({ input_file_id, endpoint: CHAT, completion_window: '24h' })
  await asked.promise
  await gateway.apiKeys.deactivate(customer.keyId)
  open.resolve()
  gateway.upstream.respond(answer)
  expect(await paused(gateway, made.id)).toBe('key_disabled')
  await gateway.apiKeys.activate(customer.keyId)
  await hurry(gateway, made.id)
  expect(await ended(client, made.id)).toMatchObject({ status: 'completed', request_counts: { completed: 40 } })
})

test('the labels of the request that created a batch are on each of its lines', async () => {
  const customer = await gateway.customer('1')
  const client = clientOf(gateway.url, customer)
  const input_file_id = await upload(client, jsonl([chatLine('1'), chatLine('2')]))
  const body = { input_file_id, endpoint: CHAT, completion_window: '24h', metadata: { order: '7' } } as const
  const made = await client.batches.create(body, { headers: { 'x-svc-tags': 'team=search' } })
  expect((await ended(client, made.id)).metadata).toEqual({ order: '7' })
  const records = await gateway.gateway.deps.ledger.latestRecords(customer.accountId, 10)
  const { sql } = gateway.gateway.database
  const booked = await sql`SELECT to_json(tags) AS tags FROM usage_records WHERE account_id = ${customer.accountId}`
  const tags = [...records.map(({ facts }) => facts.labels?.tags), ...booked.map((row) => row.tags)]
  expect(new Set(tags.map((one) => JSON.stringify(one)))).toEqual(new Set(['["team=search"]']))
})

test.each([
  [400, 1],
  [500, 4],
])(
  'a batch line that the provider answers with %i is an error after %i tries, and costs nothing',
  async (status, most) => {
    const customer = await gateway.customer('1')
    const client = clientOf(gateway.url, customer)
    gateway.upstream.respond((call) => {
      if (!call.text.includes('Question bad')) return answer(call)
      return Response.json({ error: { message: 'broken' } }, { status })
    })
    const { id } = await begin(client, [chatLine('good'), chatLine('bad')])
    const batch = await ended(client, id, () => hurry(gateway, id))
    expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 2, completed: 1, failed: 1 } })
    const [failed, ...others] = await resultLines(client, batch.error_file_id)
    expect(others).toEqual([])
    expect(failed).toMatchObject({ custom_id: 'bad', error: null, response: { body: { error: expect.anything() } } })
    expect(failed?.response?.status_code).toBe(status === 400 ? 400 : 502)
    const [line] = await gateway.gateway.database
      .sql`SELECT tries FROM batch_lines WHERE batch_id = ${batch.id} AND custom_id = 'bad'`
    expect(line?.tries).toBe(most)
    expect(Number((await gateway.balance(customer.accountId)).spent)).toBe(10 * 1_000 + 20 * 2_000)
    gateway.upstream.respond(answer)
  },
)
