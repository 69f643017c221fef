/** OpenAI's endpoints of batches: create, get, list and cancel. */
import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { GatewayError, invalidRequest } from '@/chat/error'
import { checkLine } from '@/http/batches/check-line'
import { answerFree, type FreeCaller, inSilence } from '@/http/batches/free-call'
import { readInputLines } from '@/http/batches/input-lines'
import { keptHeaders } from '@/http/batches/kept-headers'
import { BatchObject, batchObject } from '@/http/batches/openai-objects'
import { readJsonBody } from '@/http/body'
import { clientAddress } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import { operation } from '@/http/openapi/operation'
import { queryOf } from '@/http/request-line'
import { permissionOf } from '@/ledger/allowed'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { oneOf } from '@/lib/schemas'
import { listOf, readLimit, told } from './files'

const ERRORS = [400, 401, 403, 404, 429, 503] as const
const ENDPOINTS = ['/v1/chat/completions', '/v1/embeddings', '/v1/responses'] as const
const WINDOW = '24h'
const MAX_PAIRS = 16
const MAX_KEY_CHARS = 64
const MAX_VALUE_CHARS = 512
const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100
/** Maximum bytes of a body. It only names a file, so it is short. */
const MAX_BODY_BYTES = 64 * 1024

const CreateBatch = Type.Object({
  input_file_id: Type.String(),
  endpoint: oneOf(ENDPOINTS),
  completion_window: Type.Literal(WINDOW),
  metadata: Type.Optional(
    Type.Record(Type.String({ maxLength: MAX_KEY_CHARS }), Type.String({ maxLength: MAX_VALUE_CHARS }), {
      description: `At most ${MAX_PAIRS} pairs`,
    }),
  ),
})
const BatchList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(BatchObject),
  first_id: Type.Union([Type.String(), Type.Null()]),
  last_id: Type.Union([Type.String(), Type.Null()]),
  has_more: Type.Boolean(),
})

type Context = { request: Request; params: { id: string } }

/** Mounts the endpoints of batches. */
export function batchRoutes(deps: HttpDeps) {
  return new Elysia({ name: 'batch-routes' })
    .post('/v1/batches', ({ request }) => answerFree(deps, request, (caller) => create(deps, request, caller)), {
      parse: 'none',
      detail: CREATE,
    })
    .get('/v1/batches', ({ request }) => answerFree(deps, request, (caller) => list(deps, request, caller)), {
      detail: LIST,
    })
    .get('/v1/batches/:id', (context) => withBatch(deps, context, (scope, id) => deps.batches.find(scope, id)), {
      detail: GET,
    })
    .post(
      '/v1/batches/:id/cancel',
      (context) => withBatch(deps, context, (scope, id) => deps.batches.cancel(scope, id)),
      { parse: 'none', detail: CANCEL },
    )
}

const CREATE = operation({
  tag: 'Batches',
  summary: 'Create a batch',
  description:
    'Free. Each line of the file is a request that runs in the background at the batch’s key, below live traffic, within 24 hours. It ' +
    'is reserved and charged when it runs, at the model’s price for batches. A file with a fault makes no batch: the 400 lists the first ' +
    'ten in `error.errors.data`, by line. Without credit the batch pauses and goes on after a top-up.',
  requestSchema: CreateBatch,
  examples: {
    batch: {
      summary: 'A batch of chat completions',
      value: { input_file_id: 'file-0aZ', endpoint: '/v1/chat/completions', completion_window: WINDOW },
    },
  },
  responseSchema: BatchObject,
  errors: [...ERRORS, 413, 415],
})
const LIST = operation({
  tag: 'Batches',
  summary: 'List batches',
  description:
    'Free. The newest first. `limit` (1 to 100, default 20) and `after` (an id). A key sees what its member sees.',
  responseSchema: BatchList,
  errors: ERRORS,
})
const GET = operation({
  tag: 'Batches',
  summary: 'Get a batch',
  description: 'Free. Its status, counts and cost so far; why it waits, if it does; and its files once it has ended.',
  responseSchema: BatchObject,
  errors: ERRORS,
})
const CANCEL = operation({
  tag: 'Batches',
  summary: 'Cancel a batch',
  description:
    'Free. No further line begins; those that run end and are charged. Its files then have the results so far.',
  responseSchema: BatchObject,
  errors: ERRORS,
})

async function create(deps: HttpDeps, request: Request, { payer, scope, key }: FreeCaller): Promise<Response> {
  const share = deps.openShare(payer, true)
  try {
    const { json } = await readJsonBody(request, { ...deps, maxBodyBytes: MAX_BODY_BYTES }, { share })
    const { inputFileId, endpoint, metadata } = readCreate(json)
    const { files } = deps.batches
    const file = await files.find(scope, inputFileId)
    if (file?.purpose !== 'batch') {
      throw new GatewayError('not_found', `There is no file ${inputFileId.slice(0, 128)} for a batch.`, {
        param: 'input_file_id',
      })
    }
    await deps.unpaid.admitFree(payer)
    const { catalog, formats } = deps
    const checks = { catalog, formats, allowed: permissionOf(key) }
    const lines = readInputLines(files.read(file), {
      endpoint,
      maxLineBytes: deps.maxBodyBytes,
      maxDepth: deps.maxJsonDepth,
      check: (body, bytes) => checkLine(checks, endpoint, body, bytes),
    })
    const batch = {
      ...{ payer, endpoint, inputFileId, metadata, headers: keptHeaders(request.headers), idPrefix: 'batch' as const },
      clientAddress: clientAddress(request, deps.trustedProxyHops),
    }
    const made = await deps.batchTurns(payer.accountId, () =>
      inSilence(request, () => deps.batches.create(batch, lines)),
    )
    return told(batchObject(made))
  } finally {
    share.end()
  }
}

async function list(deps: HttpDeps, request: Request, { scope }: FreeCaller): Promise<Response> {
  const query = new URLSearchParams(queryOf(request.url))
  const limit = readLimit(query.get('limit'), DEFAULT_LIMIT, MAX_LIMIT)
  const after = query.get('after') ?? undefined
  const { items, hasMore } = await deps.batches.list(scope, { prefix: 'batch', limit, after })
  return told(listOf(items.map(batchObject), hasMore))
}

type Find = (scope: FreeCaller['scope'], id: string) => ReturnType<HttpDeps['batches']['find']>

function withBatch(deps: HttpDeps, { request, params: { id } }: Context, find: Find): Promise<Response> {
  return answerFree(deps, request, async ({ scope }) => {
    const batch = id.startsWith('batch_') ? await find(scope, id) : undefined
    if (!batch) throw new GatewayError('not_found', `There is no batch ${id.slice(0, 128)}.`, { param: 'batch_id' })
    return told(batchObject(batch))
  })
}

type Wanted = {
  inputFileId: string
  endpoint: Static<typeof CreateBatch>['endpoint']
  metadata?: Record<string, string>
}

function readCreate(body: JsonObject): Wanted {
  const { input_file_id: inputFileId, endpoint: path, completion_window: window, metadata } = body
  if (typeof inputFileId !== 'string')
    throw invalidRequest('input_file_id: expected the id of a file.', 'input_file_id')
  const endpoint = ENDPOINTS.find((one) => one === path)
  if (!endpoint) throw invalidRequest(`endpoint: expected one of ${ENDPOINTS.join(', ')}.`, 'endpoint')
  if (window !== WINDOW) throw invalidRequest(`completion_window: expected ${WINDOW}.`, 'completion_window')
  if (metadata === undefined || metadata === null) return { inputFileId, endpoint }
  return { inputFileId, endpoint, metadata: readMetadata(metadata) }
}

function readMetadata(metadata: JsonValue): Record<string, string> {
  const pairs = isJsonObject(metadata) ? Object.entries(metadata) : []
  const isSound =
    isJsonObject(metadata) &&
    pairs.length <= MAX_PAIRS &&
    pairs.every(
      ([name, value]) => name.length <= MAX_KEY_CHARS && typeof value === 'string' && value.length <= MAX_VALUE_CHARS,
    )
  if (isSound) return Object.fromEntries(pairs) as Record<string, string>
  throw invalidRequest(
    `metadata: expected at most ${MAX_PAIRS} texts of ${MAX_VALUE_CHARS} characters, with names of ${MAX_KEY_CHARS}.`,
    'metadata',
  )
}
