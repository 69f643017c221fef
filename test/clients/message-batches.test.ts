/** Message batches through Anthropic's unchanged library: created, listed page by page, read, canceled and deleted. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import Anthropic, { BadRequestError, NotFoundError } from '@anthropic-ai/sdk'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, type UpstreamCall } from '@test/support/upstream'

type Batch = Anthropic.Messages.MessageBatch
type Requests = Anthropic.Messages.BatchCreateParams['requests']

let gateway: TestGateway
/** Set while the provider keeps its answers back. */
let answering: PromiseWithResolvers<void> | undefined

beforeAll(async () => {
  gateway = await startGateway({ respond })
})
afterAll(() => gateway.stop())

async function respond({ text }: UpstreamCall): Promise<Response> {
  await answering?.promise
  if (text.includes('Fail')) return Response.json({ error: { message: 'No such thing.' } }, { status: 400 })
  return Response.json(chatCompletion('Because.'))
}

/** The library for a customer with credit. */
async function client(): Promise<Anthropic> {
  const { key } = await gateway.customer('5')
  return new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 })
}

function requestsOf(...contents: string[]): Requests {
  return contents.map((content, index) => ({
    custom_id: `request-${index}`,
    params: { model: 'svc/alpha', max_tokens: 50, messages: [{ role: 'user', content }] },
  }))
}

function ended({ messages }: Anthropic, { id }: Batch): Promise<Batch> {
  return until(async () => {
    const batch = await messages.batches.retrieve(id)
    return batch.processing_status === 'ended' && batch
  }, 'the end of the batch')
}

const thrown = (work: PromiseLike<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

test('a batch is created, runs to its end, and its results are read', async () => {
  const anthropic = await client()
  const { batches } = anthropic.messages
  const made = await batches.create({ requests: requestsOf('Why is the sky blue?', 'Fail', 'Why is the sea blue?') })
  expect(made).toMatchObject({ type: 'message_batch', ended_at: null, archived_at: null, cancel_initiated_at: null })
  const windowMs = Date.parse(made.expires_at) - Date.parse(made.created_at)
  expect(Math.abs(windowMs - 24 * 3_600_000)).toBeLessThan(60_000)
  const batch = await ended(anthropic, made)
  expect(batch).toMatchObject({
    id: made.id,
    request_counts: { processing: 0, succeeded: 2, errored: 1, canceled: 0, expired: 0 },
    results_url: `${gateway.url}/v1/messages/batches/${made.id}/results`,
  })
  const results = await Array.fromAsync(await batches.results(made.id))
  expect(results.map(({ custom_id: id, result }) => [id, result.type])).toEqual([
    ['request-0', 'succeeded'],
    ['request-1', 'errored'],
    ['request-2', 'succeeded'],
  ])
  const [first, second] = results.map(({ result }) => result)
  expect(first).toMatchObject({
    message: { type: 'message', role: 'assistant', model: 'svc/alpha', content: [{ type: 'text', text: 'Because.' }] },
  })
  expect(second).toMatchObject({ error: { type: 'error', error: { type: 'invalid_request_error' } } })
  const beta = await anthropic.beta.messages.batches.retrieve(made.id)
  expect(beta.processing_status).toBe('ended')
})

test('the list of batches is read page by page, forwards and backwards', async () => {
  const anthropic = await client()
  const { batches } = anthropic.messages
  const ids: string[] = []
  for (const content of ['One', 'Two', 'Three'])
    ids.unshift((await batches.create({ requests: requestsOf(content) })).id)
  const idsOf = async (options: Anthropic.Messages.BatchListParams) =>
    (await Array.fromAsync(batches.list(options))).map(({ id }) => id)
  expect(await idsOf({})).toEqual(ids)
  expect(await idsOf({ limit: 1 })).toEqual(ids)
  const [newest, , oldest] = ids
  expect(await idsOf({ limit: 1, after_id: newest ?? '' })).toEqual(ids.slice(1))
  expect((await idsOf({ limit: 1, before_id: oldest ?? '' })).sort()).toEqual(ids.slice(0, 2).sort())
  const { has_more: hasMore, first_id: first, last_id: last } = await batches.list({ limit: 2 })
  expect({ hasMore, first, last }).toEqual({ hasMore: true, first: ids[0] ?? '', last: ids[1] ?? '' })
})

test('a canceled batch ends with the requests that ran, and can be deleted only then', async () => {
  const anthropic = await client()
  const { batches } = anthropic.messages
  answering = Promise.withResolvers()
  const before = gateway.upstream.calls.length
  const made = await batches.create({
    requests: requestsOf(...Array.from({ length: 300 }, (_, index) => `Number ${index}`)),
  })
  await until(() => gateway.upstream.calls.length > before, 'the first request of the batch')
  expect(await thrown(batches.results(made.id))).toMatchObject({ message: expect.stringContaining('results_url') })
  expect(await thrown(batches.delete(made.id))).toBeInstanceOf(BadRequestError)
  const canceling = await batches.cancel(made.id)
  expect(canceling).toMatchObject({ processing_status: 'canceling', cancel_initiated_at: expect.any(String) })
  answering.resolve()
  answering = undefined
  const batch = await ended(anthropic, made)
  const { succeeded, canceled, ...others } = batch.request_counts
  expect(others).toEqual({ processing: 0, errored: 0, expired: 0 })
  expect(succeeded).toBeGreaterThan(0)
  expect(canceled).toBeGreaterThan(0)
  expect(succeeded + canceled).toBe(300)
  const types = (await Array.fromAsync(await batches.results(made.id))).map(({ result }) => result.type)
  expect(types.filter((type) => type === 'canceled')).toHaveLength(canceled)
  expect(await batches.cancel(made.id)).toEqual(batch)
  expect(await batches.delete(made.id)).toEqual({ id: made.id, type: 'message_batch_deleted' })
  for (const call of [() => batches.retrieve(made.id), () => batches.cancel(made.id), () => batches.delete(made.id)])
    expect(await thrown(call())).toBeInstanceOf(NotFoundError)
})

test('a batch with invalid requests is refused with its first ten errors, and not stored', async () => {
  const anthropic = await client()
  const { batches } = anthropic.messages
  const requests = requestsOf(...Array.from({ length: 60 }, () => 'Hello'))
  for (const request of requests.slice(40)) request.params.model = 'svc/none'
  const error = await thrown(batches.create({ requests }))
  expect(error).toBeInstanceOf(BadRequestError)
  const { message } = error as BadRequestError
  for (let place = 40; place < 50; place++) expect(message).toContain(`requests.${place}.params.model`)
  expect(message).not.toContain('requests.50.')
  expect((await batches.list()).data).toEqual([])
})
