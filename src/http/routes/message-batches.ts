/** The endpoints of message batches (family 2): create, read, list, results, cancel and delete. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { GatewayError, invalidRequest } from '@/chat/error'
import { createMessageBatch, MAX_BATCH_BYTES, MAX_BATCH_REQUESTS } from '@/http/batches/create-message-batch'
import { answerFree, type FreeCaller } from '@/http/batches/free-call'
import { isMessageBatch, MessageBatch, messageBatchBody, resultLines } from '@/http/batches/message-batch'
import type { HttpDeps } from '@/http/deps'
import { exampleModel, QUESTION } from '@/http/openapi/example-model'
import { operation, type Parameter } from '@/http/openapi/operation'
import { NO_SNIFFING } from '@/http/pages'
import { formatOfRequest } from '@/http/request-format'
import { queryOf } from '@/http/request-line'
import { orNull } from '@/lib/schemas'
import { streamBytes } from '@/lib/streams/stream-bytes'
import { readLimit, told } from './files'

const PATH = '/v1/messages/batches'
const DEFAULT_LIMIT = 20
const MAX_LIMIT = 1_000
const ERRORS = [400, 401, 403, 404, 429, 503] as const

const DeletedBatch = Type.Object({ id: Type.String(), type: Type.Literal('message_batch_deleted') })
const BatchList = Type.Object({
  data: Type.Array(MessageBatch, { description: 'Newest first' }),
  has_more: Type.Boolean(),
  first_id: orNull(Type.String()),
  last_id: orNull(Type.String()),
})
const BatchRequests = Type.Object({
  requests: Type.Array(
    Type.Object({
      custom_id: Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$', description: 'Unique in the batch' }),
      params: Type.Object(
        {},
        { additionalProperties: true, description: 'The body of `POST /v1/messages`, without `stream`' },
      ),
    }),
    { minItems: 1, maxItems: MAX_BATCH_REQUESTS },
  ),
})

const LIST_PARAMETERS: readonly Parameter[] = [
  { name: 'after_id', in: 'query', schema: { type: 'string' }, description: 'The `last_id` of the page before' },
  { name: 'before_id', in: 'query', schema: { type: 'string' }, description: 'The `first_id` of the page after' },
  { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT } },
]

type Context = { request: Request; params?: { id?: string } }
/** A request with an active key; `resultsOf` returns the address of a batch's results. */
type Call = FreeCaller & { deps: HttpDeps; request: Request; resultsOf(id: string): string }
type Work = (call: Call, id: string) => Promise<Response>

/** The endpoints of message batches, in every spelling of the base address. */
export function messageBatchRoutes(deps: HttpDeps) {
  const routes = new Elysia({ name: 'message-batch-routes' })
  const documented = documentsOf(deps)
  for (const [base, isDocumented] of [
    [PATH, true],
    ['/v1/v1/messages/batches', false],
    ['/messages/batches', false],
  ] as const) {
    const detailOf = (name: keyof typeof documented) => ({
      parse: 'none' as const,
      detail: isDocumented ? documented[name] : { hide: true },
    })
    const answer =
      (work: Work) =>
      ({ request, params }: Context) =>
        answerFree(deps, request, (caller) => work(callOf(deps, request, caller), params?.id ?? ''))
    routes
      .post(base, answer(create), detailOf('create'))
      .get(base, answer(list), detailOf('list'))
      .get(`${base}/:id`, answer(show), detailOf('show'))
      .get(`${base}/:id/results`, answer(results), detailOf('results'))
      .post(`${base}/:id/cancel`, answer(cancel), detailOf('cancel'))
      .delete(`${base}/:id`, answer(remove), detailOf('remove'))
  }
  return routes
}

function callOf(deps: HttpDeps, request: Request, caller: FreeCaller): Call {
  const origin = deps.publicUrl ?? new URL(request.url).origin
  return { ...caller, deps, request, resultsOf: (id) => `${origin}${PATH}/${id}/results` }
}

async function create({ deps, request, payer, key, resultsOf }: Call): Promise<Response> {
  const make = () => createMessageBatch(deps, request, payer, key)
  const batch = await deps.batchTurns(payer.accountId, make)
  return told(messageBatchBody(batch, resultsOf(batch.id)))
}

async function list({ deps, request, scope, resultsOf }: Call): Promise<Response> {
  const query = new URLSearchParams(queryOf(request.url))
  const limit = readLimit(query.get('limit'), DEFAULT_LIMIT, MAX_LIMIT)
  const [after, before] = [query.get('after_id') ?? undefined, query.get('before_id') ?? undefined]
  const { items, hasMore } = await deps.batches.list(scope, { prefix: 'msgbatch', limit, after, before })
  const data = items.map((batch) => messageBatchBody(batch, resultsOf(batch.id)))
  return told({ data, has_more: hasMore, first_id: items.at(0)?.id ?? null, last_id: items.at(-1)?.id ?? null })
}

async function show(call: Call, id: string): Promise<Response> {
  return told(messageBatchBody(await existing(call, id), call.resultsOf(id)))
}

async function results(call: Call, id: string): Promise<Response> {
  const batch = await existing(call, id)
  if (batch.endedAt === null) throw invalidRequest('The batch has not ended yet: its results can be read once it has.')
  const pages = call.deps.batches.results(id, ['succeeded', 'errored', 'canceled', 'expired'])
  const headers = { 'content-type': 'application/x-jsonl', 'cache-control': 'no-store', ...NO_SNIFFING }
  return new Response(streamBytes(resultLines(pages)), { headers })
}

async function cancel(call: Call, id: string): Promise<Response> {
  await existing(call, id)
  const batch = await call.deps.batches.cancel(call.scope, id)
  if (!batch) throw unknownBatch(id)
  return told(messageBatchBody(batch, call.resultsOf(id)))
}

async function remove(call: Call, id: string): Promise<Response> {
  await existing(call, id)
  const outcome = await call.deps.batches.delete(call.scope, id)
  if (outcome === 'unknown') throw unknownBatch(id)
  if (outcome === 'running') throw invalidRequest('The batch has not ended yet: cancel it before you delete it.')
  return told({ id, type: 'message_batch_deleted' })
}

async function existing({ deps, scope }: Call, id: string) {
  const batch = isMessageBatch({ id }) ? await deps.batches.find(scope, id) : undefined
  if (!batch) throw unknownBatch(id)
  return batch
}

function unknownBatch(id: string): GatewayError {
  return new GatewayError('not_found', `There is no message batch '${id.slice(0, 64)}'.`)
}

const EXAMPLE_BATCH = {
  requests: ['first', 'second'].map((id) => ({
    custom_id: id,
    params: { model: exampleModel(), max_tokens: 200, messages: [{ role: 'user', content: QUESTION }] },
  })),
}

function documentsOf(deps: HttpDeps) {
  const formats = [formatOfRequest(deps.formats, PATH, new Headers())] as const
  const document = (summary: string, description: string, rest: object) =>
    operation({ tag: 'Batches', formats, summary, description, errors: ERRORS, ...rest })
  return {
    create: document(
      'Create a message batch (family 2)',
      `At most ${MAX_BATCH_REQUESTS} requests and ${MAX_BATCH_BYTES / 1024 ** 2} MiB. Each request is checked first: if any is invalid, ` +
        'nothing is created, and the error names the first ten faults. Each request is reserved and paid for when it runs. Without credit ' +
        'the batch is paused, and goes on after a top-up.',
      {
        requestSchema: BatchRequests,
        examples: { questions: { summary: 'Two questions', value: EXAMPLE_BATCH } },
        responseSchema: MessageBatch,
        errors: [400, 401, 403, 413, 415, 429, 503],
      },
    ),
    list: document('List message batches (family 2)', 'Free. Newest first.', {
      parameters: LIST_PARAMETERS,
      responseSchema: BatchList,
    }),
    show: document('Get a message batch (family 2)', 'Free.', { responseSchema: MessageBatch }),
    results: document(
      'Get the results of a message batch (family 2)',
      'Free. One JSON object in each line, once the batch has ended. A result is `succeeded`, `errored`, `canceled` or `expired`.',
      { responseType: 'application/x-jsonl', responseSchema: Type.String() },
    ),
    cancel: document(
      'Cancel a message batch (family 2)',
      'Free. Requests that run come to their end; the others are canceled and cost nothing.',
      { responseSchema: MessageBatch },
    ),
    remove: document('Delete a message batch (family 2)', 'Free. With its results. Only after it has ended.', {
      responseSchema: DeletedBatch,
    }),
  }
}
