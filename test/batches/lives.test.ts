/** How batches and files end: window over, retention over, storage full, or deleted by their owner. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { deleteExpired } from '@/batches/lines'
import { SHARED } from '@/limits/shared-resources'
import { begin, chatLine, clientOf, ended, hurry, jsonl, paused, resultLines, upload } from './world'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Yes', usageOf(10, 5))) })
})
afterAll(() => gateway.stop())

const LINES = Array.from({ length: 3 }, (_, index) => chatLine(`${index}`))

test('batch lines that did not run in the window end as expired, and cost nothing', async () => {
  const customer = await gateway.customer('0')
  const client = clientOf(gateway.url, await gateway.customer('1'))
  const { sql } = gateway.gateway.database
  const made = await begin(client, LINES)
  await ended(client, made.id)
  // The same batch without credit: its lines wait until the window ends.
  const id = 'batch_without_credit'
  await sql`INSERT INTO batches (id, account_id, key_id, endpoint, models, status, headers, client_address, total, ends_at, expires_at)
    VALUES (${id}, ${customer.accountId}, ${customer.keyId}, '/v1/chat/completions', '{}', 'in_progress', '{}', '127.0.0.1', 3,
      now() + interval '1 day', now() + interval '2 days')`
  for (const [place, { custom_id, body }] of LINES.entries())
    await sql`INSERT INTO batch_lines (batch_id, place, custom_id, request) VALUES (${id}, ${place}, ${custom_id}, ${JSON.stringify(body)})`
  const poor = clientOf(gateway.url, customer)
  await paused(gateway, id)
  await sql`UPDATE batches SET ends_at = now(), due_at = now() WHERE id = ${id}`
  const batch = await ended(poor, id)
  expect(batch).toMatchObject({ status: 'expired', request_counts: { total: 3, completed: 0, failed: 3 } })
  expect(batch.expired_at).toBeGreaterThan(0)
  expect(batch.output_file_id).toBeNull()
  const lines = await resultLines(poor, batch.error_file_id)
  expect(lines).toHaveLength(3)
  expect(lines[0]).toMatchObject({ custom_id: '0', response: null, error: { code: 'batch_expired' } })
  const file = await poor.files.retrieve(batch.error_file_id ?? '')
  expect(file.bytes).toBe(Buffer.byteLength(await (await poor.files.content(file.id)).text()))
  expect((await gateway.balance(customer.accountId)).seq).toBe(0)
})

test('batches and files are deleted with all their rows after the retention time', async () => {
  const customer = await gateway.customer('1')
  const client = clientOf(gateway.url, customer)
  const made = await ended(client, (await begin(client, LINES)).id)
  const { sql } = gateway.gateway.database
  await sql`UPDATE batches SET expires_at = now() WHERE account_id = ${customer.accountId}`
  await sql`UPDATE batch_files SET expires_at = now() WHERE account_id = ${customer.accountId}`
  const missing = await Promise.all(
    [
      () => client.batches.retrieve(made.id),
      () => client.files.retrieve(made.input_file_id),
      () => client.files.content(made.output_file_id ?? ''),
    ].map((ask) => ask().then(undefined, (error: { status: number }) => error.status)),
  )
  expect(missing).toEqual([404, 404, 404])
  expect(await deleteExpired(gateway.gateway.database, 10)).toBeGreaterThanOrEqual(2)
  const left = await sql`
    SELECT 1 FROM batch_lines WHERE batch_id = ${made.id} UNION ALL SELECT 1 FROM batch_file_parts WHERE file_id = ${made.input_file_id}`
  expect([...left]).toEqual([])
})

test('an upload or a batch that was never completed is deleted after an hour', async () => {
  const { accountId, keyId } = await gateway.customer('1')
  const { files } = gateway.gateway.deps.batches
  const old = await files.open({ accountId, keyId, name: 'old' })
  const fresh = await files.open({ accountId, keyId, name: 'fresh' })
  const { sql } = gateway.gateway.database
  await sql`UPDATE batch_files SET created_at = now() - interval '61 minutes' WHERE id = ${old}`
  await deleteExpired(gateway.gateway.database, 10)
  const left = await sql`SELECT id FROM batch_files WHERE account_id = ${accountId}`
  expect(left.map(({ id }) => id)).toEqual([fresh])
})

test('deleted results of a batch free their storage; the batch and its counts stay', async () => {
  const customer = await gateway.customer('1')
  const client = clientOf(gateway.url, customer)
  const made = await ended(client, (await begin(client, LINES)).id)
  const bytesOf = async () => {
    const { sql } = gateway.gateway.database
    const [row] = await sql`SELECT bytes FROM batches WHERE id = ${made.id}`
    return row?.bytes
  }
  expect(await bytesOf()).toBeGreaterThan(0)
  await client.files.delete(made.output_file_id ?? '')
  expect(await bytesOf()).toBe(0)
  const { sql } = gateway.gateway.database
  expect([...(await sql`SELECT place FROM batch_lines WHERE batch_id = ${made.id}`)]).toEqual([])
  expect(await client.files.content(made.output_file_id ?? '').catch((error: unknown) => error)).toMatchObject({
    status: 404,
  })
  const batch = await client.batches.retrieve(made.id)
  expect(batch).toMatchObject({ output_file_id: null, request_counts: { total: 3, completed: 3, failed: 0 } })
})

test('a cancelled batch keeps only the lines that ran', async () => {
  const client = clientOf(gateway.url, await gateway.customer('1'))
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  gateway.upstream.respond(async () => {
    asked.resolve()
    await answered.promise
    return Response.json(chatCompletion('Yes', usageOf(10, 5)))
  })
  const made = await begin(
    client,
    Array.from({ length: 100 }, (_, index) => chatLine(`${index}`)),
  )
  await asked.promise
  await client.batches.cancel(made.id)
  answered.resolve()
  const { request_counts } = await ended(client, made.id)
  const { sql } = gateway.gateway.database
  const [kept] = await sql`
    SELECT count(*)::int AS lines, (sum(octet_length(result)) + count(*) * 256)::int AS bytes FROM batch_lines WHERE batch_id = ${made.id}`
  const [row] = await sql`SELECT bytes, canceled FROM batches WHERE id = ${made.id}`
  expect(kept).toEqual({ lines: request_counts?.completed, bytes: row?.bytes })
  expect(row?.canceled).toBe(100 - (request_counts?.completed ?? 0))
})

test('an account whose storage is full cannot upload, and its batches pause until there is room', async () => {
  const customer = await gateway.customer('1')
  const client = clientOf(gateway.url, customer)
  const { sql } = gateway.gateway.database
  const full = await upload(client, jsonl(LINES))
  const input_file_id = await upload(client, jsonl(LINES))
  const fill = (bytes: number) => sql`UPDATE batch_files SET bytes = ${bytes} WHERE id = ${full}`
  await fill(SHARED.batchStorage.perAccount)
  const refused = await upload(client, jsonl(LINES)).catch((error: unknown) => error)
  expect(refused).toMatchObject({ status: 403, code: 'storage_full' })
  const create = () =>
    client.batches.create({ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' })
  expect(await create().catch((error: unknown) => error)).toMatchObject({ status: 403, code: 'storage_full' })
  expect([...(await sql`SELECT id FROM batches WHERE account_id = ${customer.accountId}`)]).toEqual([])

  await fill(1)
  const answered = Promise.withResolvers<void>()
  gateway.upstream.respond(async () => {
    await answered.promise
    return Response.json(chatCompletion('Yes', usageOf(10, 5)))
  })
  const many = Array.from({ length: 100 }, (_, index) => chatLine(`${index}`))
  const made = await begin(client, many)
  await fill(SHARED.batchStorage.perAccount)
  answered.resolve()
  expect(await paused(gateway, made.id)).toBe('storage_full')
  await client.files.delete(full)
  await hurry(gateway, made.id)
  expect(await ended(client, made.id)).toMatchObject({ status: 'completed', request_counts: { completed: 100 } })
})
