/** OpenAI's library creates, follows, reads and cancels batches. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { begin, chatLine, clientOf, ended, jsonl, resultLines, upload } from '@test/batches/world'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion, type UpstreamCall, usageOf } from '@test/support/upstream'
import { NotFoundError, type OpenAI } from 'openai'

let gateway: TestGateway
let customer: Customer
let client: OpenAI

beforeAll(async () => {
  gateway = await startGateway({ respond: ({ body }: UpstreamCall) => Response.json(answerTo(body)) })
  customer = await gateway.customer('10')
  client = clientOf(gateway.url, customer)
})
afterAll(() => gateway.stop())

function answerTo(body: Record<string, unknown>) {
  const [message] = body.messages as { content: string }[]
  return chatCompletion(`Answer to ${message?.content}`, usageOf(10, 5))
}

test('a file is uploaded, listed, read and deleted', async () => {
  const text = jsonl([chatLine('a'), chatLine('b')])
  const id = await upload(client, text)
  const file = await client.files.retrieve(id)
  expect(file).toMatchObject({
    id,
    object: 'file',
    bytes: Buffer.byteLength(text),
    filename: 'in.jsonl',
    purpose: 'batch',
  })
  expect(await (await client.files.content(id)).text()).toBe(text)
  const listed: string[] = []
  for await (const one of client.files.list({ limit: 1 })) listed.push(one.id)
  expect(listed).toContain(id)
  expect(await client.files.delete(id)).toEqual({ id, object: 'file', deleted: true })
  expect(await client.files.retrieve(id).catch((error: unknown) => error)).toBeInstanceOf(NotFoundError)
})

test('a batch answers each line, and each line is charged as a request', async () => {
  const before = await gateway.balance(customer.accountId)
  const lines = Array.from({ length: 30 }, (_, index) => chatLine(`line-${index}`))
  const made = await begin(client, lines)
  expect(made).toMatchObject({
    object: 'batch',
    endpoint: '/v1/chat/completions',
    status: 'in_progress',
    errors: null,
    completion_window: '24h',
    output_file_id: null,
    request_counts: { total: 30, completed: 0, failed: 0 },
  })
  const batch = await ended(client, made.id)
  expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 30, completed: 30, failed: 0 } })
  expect(batch.error_file_id).toBeNull()
  expect(batch.completed_at).toBeGreaterThanOrEqual(batch.created_at)
  const results = await resultLines(client, batch.output_file_id)
  expect(results.map(({ custom_id }) => custom_id)).toEqual(lines.map(({ custom_id }) => custom_id))
  expect(results[7]).toMatchObject({
    custom_id: 'line-7',
    error: null,
    response: { status_code: 200, body: { choices: [{ message: { content: 'Answer to Question line-7' } }] } },
  })
  const file = await client.files.retrieve(batch.output_file_id ?? '')
  const content = await (await client.files.content(file.id)).text()
  expect(file).toMatchObject({ purpose: 'batch_output', bytes: Buffer.byteLength(content) })
  // 10 tokens of input at 1 USD and 5 of output at 2 USD per 1,000,000.
  const after = await gateway.balance(customer.accountId)
  expect(before.available - after.available).toBe(30 * (10 * 1_000 + 5 * 2_000))
})

test('batches are listed with the newest first, page by page', async () => {
  const first = await begin(client, [chatLine('1')])
  const second = await begin(client, [chatLine('2')])
  const listed: string[] = []
  for await (const one of client.batches.list({ limit: 1 })) {
    listed.push(one.id)
    if (listed.length === 2) break
  }
  expect(listed).toEqual([second.id, first.id])
})

test('a cancelled batch ends with the results that it has so far', async () => {
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  gateway.upstream.respond(async ({ body }) => {
    asked.resolve()
    await answered.promise
    return Response.json(answerTo(body))
  })
  const made = await begin(
    client,
    Array.from({ length: 200 }, (_, index) => chatLine(`c-${index}`)),
  )
  await asked.promise
  const cancelling = await client.batches.cancel(made.id)
  expect(cancelling.status).toBe('cancelling')
  expect(cancelling.cancelling_at).toBeGreaterThan(0)
  answered.resolve()
  const batch = await ended(client, made.id)
  expect(batch.status).toBe('cancelled')
  const { total, completed = 0 } = batch.request_counts ?? {}
  expect(total).toBe(200)
  expect(completed).toBeGreaterThan(0)
  expect(completed).toBeLessThan(200)
  expect(await resultLines(client, batch.output_file_id)).toHaveLength(completed)
})
