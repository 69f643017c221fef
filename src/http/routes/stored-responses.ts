/** The endpoints of stored answers: read one by id, read its input, delete both. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { GatewayError, invalidRequest } from '@/chat/error'
import { authenticate } from '@/http/auth'
import { sentFrom } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import { operation } from '@/http/openapi/operation'
import { NO_SNIFFING, openToPage } from '@/http/pages'
import { queryOf } from '@/http/request-line'
import { requireActiveKey } from '@/http/require-active-key'
import type { Payer } from '@/ledger/outcomes'
import type { JsonObject } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { orNull } from '@/lib/schemas'
import { asListed } from '@/stored-responses/stored-items'

const ERRORS = [400, 401, 404, 429, 503] as const

const AnyItem = Type.Object({ id: Type.String(), type: Type.String() }, { additionalProperties: true })
const StoredResponse = Type.Object(
  { id: Type.String(), object: Type.Literal('response'), status: Type.String(), output: Type.Array(AnyItem) },
  { additionalProperties: true },
)
const Deleted = Type.Object({
  id: Type.String(),
  object: Type.Literal('response'),
  deleted: Type.Literal(true),
})
const InputItems = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(AnyItem),
  first_id: orNull(Type.String()),
  last_id: orNull(Type.String()),
  has_more: Type.Boolean(),
})

type Context = { request: Request; params: { id: string } }

export function storedResponseRoutes(deps: HttpDeps) {
  const routes = new Elysia({ name: 'stored-response-routes' })
  // For clients whose path has `/v1` twice, or not at all.
  for (const [base, isDocumented] of [
    ['/v1/responses', true],
    ['/v1/v1/responses', false],
    ['/responses', false],
  ] as const) {
    const detailOf = (detail: ReturnType<typeof operation>) => ({ detail: isDocumented ? detail : { hide: true } })
    routes
      .get(`${base}/:id`, (context) => answer(deps, context, read), detailOf(READ))
      .delete(`${base}/:id`, (context) => answer(deps, context, remove), { parse: 'none', ...detailOf(DELETE) })
      .get(`${base}/:id/input_items`, (context) => answer(deps, context, listInput), detailOf(INPUT_ITEMS))
      .post(`${base}/:id/cancel`, (context) => answer(deps, context, cancel), {
        parse: 'none',
        ...detailOf(CANCEL),
      })
  }
  return routes
}

const READ = operation({
  tag: 'Stored responses',
  summary: 'Get a stored response (family 4)',
  description:
    'Free. As it was told when it was made, for as long as the account keeps its responses. `include[]` changes nothing: all that ' +
    'was stored is shown. A response that was made with `store: false`, is deleted, expired or of another account is unknown.',
  responseSchema: StoredResponse,
  errors: ERRORS,
})
const DELETE = operation({
  tag: 'Stored responses',
  summary: 'Delete a stored response (family 4)',
  description: 'Free. With the input of its own request. What builds on it can no longer be built on.',
  responseSchema: Deleted,
  errors: ERRORS,
})
const INPUT_ITEMS = operation({
  tag: 'Stored responses',
  summary: 'List the input of a stored response (family 4)',
  description:
    'Free. What the request built on, then its own input. `order` (`desc`, the default, or `asc`), `limit` (1 to 100, default 20) ' +
    'and `after` (the id of the last item of the page before). A page of more than 1 MiB ends sooner.',
  responseSchema: InputItems,
  errors: ERRORS,
})
const CANCEL = operation({
  tag: 'Stored responses',
  summary: 'Cancel a response (family 4)',
  description: 'Always 400: only background responses could be cancelled, and there are none.',
  errors: ERRORS,
})

type Query = URLSearchParams
type Work = (deps: HttpDeps, payer: Payer, id: string, query: Query) => Promise<string>

async function answer(deps: HttpDeps, { request, params }: Context, work: Work): Promise<Response> {
  const payer = await authenticate(deps, request)
  deps.unpaid.answer(payer)
  deps.unpaid.admitBytes(payer)
  await requireActiveKey(deps, payer, sentFrom(deps, request))
  const body = await work(deps, payer, params.id, new URLSearchParams(queryOf(request.url)))
  deps.unpaid.charge(payer, body.length)
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', ...NO_SNIFFING }
  return openToPage(request, new Response(body, { headers }))
}

async function read({ storedResponses }: HttpDeps, { accountId }: Payer, id: string, query: Query): Promise<string> {
  if (query.get('stream') === 'true') {
    throw invalidRequest('stream: only responses made in the background can be streamed again.', 'stream')
  }
  return await storedResponses.find(accountId, id)
}

async function remove(deps: HttpDeps, { accountId }: Payer, id: string): Promise<string> {
  const callIds = await deps.storedResponses.delete(accountId, id)
  await deps.signatures.forget(accountId, callIds)
  return JSON.stringify({ id, object: 'response', deleted: true })
}

async function cancel({ storedResponses }: HttpDeps, { accountId }: Payer, id: string): Promise<string> {
  await storedResponses.find(accountId, id)
  throw new GatewayError('invalid_request', 'Only responses created with background=true can be cancelled.')
}

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

async function listInput(deps: HttpDeps, { accountId }: Payer, id: string, query: Query): Promise<string> {
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') throw invalidRequest('order: expected asc or desc.', 'order')
  const limit = readLimit(query.get('limit'))
  const asked = { order, limit, after: query.get('after') } as const
  const { items, hasMore } = await deps.storedResponses.findInput(accountId, id, asked)
  return JSON.stringify(page(items, hasMore))
}

function page(items: JsonObject[], hasMore: boolean): JsonObject {
  const data = items.map((item) => asWritten(asListed(item)))
  const [first, last] = [items.at(0)?.id ?? null, items.at(-1)?.id ?? null]
  return { object: 'list', data, first_id: first, last_id: last, has_more: hasMore }
}

function readLimit(text: string | null): number {
  if (text === null) return DEFAULT_LIMIT
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > MAX_LIMIT) throw invalidRequest(`limit: expected 1 to ${MAX_LIMIT}.`, 'limit')
  return limit
}
