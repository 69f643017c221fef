/** OpenAI's endpoints of files, for batches: upload, list, get, read and delete. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { BatchFile } from '@/batches/types'
import { GatewayError, invalidRequest } from '@/chat/error'
import { answerFree, type FreeCaller, inSilence } from '@/http/batches/free-call'
import { FileObject, fileObject } from '@/http/batches/openai-objects'
import { receiveFile } from '@/http/batches/upload'
import type { HttpDeps } from '@/http/deps'
import { operation } from '@/http/openapi/operation'
import { NO_SNIFFING } from '@/http/pages'
import { queryOf } from '@/http/request-line'
import { streamBytes } from '@/lib/streams/stream-bytes'

const ERRORS = [400, 401, 403, 404, 429, 503] as const
const PRIVATE = { 'cache-control': 'no-store', ...NO_SNIFFING } as const
const MAX_LIMIT = 10_000
const MOST_LISTED = 1_000

const FileList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(FileObject),
  first_id: Type.Union([Type.String(), Type.Null()]),
  last_id: Type.Union([Type.String(), Type.Null()]),
  has_more: Type.Boolean(),
})
const DeletedFile = Type.Object({ id: Type.String(), object: Type.Literal('file'), deleted: Type.Literal(true) })
const Upload = Type.Object({
  purpose: Type.Literal('batch'),
  file: Type.String({ format: 'binary', description: 'JSONL, at most 200 MiB and 50,000 lines' }),
})

type Context = { request: Request; params: { id: string } }

/** Mounts the endpoints of files. */
export function fileRoutes(deps: HttpDeps) {
  const withFile = ({ request, params }: Context, work: (file: BatchFile, caller: FreeCaller) => Promise<Response>) =>
    answerFree(deps, request, async (caller) => {
      const file = await deps.batches.files.find(caller.scope, params.id)
      if (!file) throw unknownFile(params.id)
      return work(file, caller)
    })
  return new Elysia({ name: 'file-routes' })
    .post('/v1/files', ({ request }) => upload(deps, request), { parse: 'none', detail: UPLOAD })
    .get('/v1/files', ({ request }) => list(deps, request), { detail: LIST })
    .get('/v1/files/:id', (context) => withFile(context, async (file) => told(fileObject(file))), { detail: GET })
    .get('/v1/files/:id/content', (context) => withFile(context, async (file) => content(deps, file)), {
      detail: CONTENT,
    })
    .delete(
      '/v1/files/:id',
      (context) =>
        withFile(context, async ({ id }, { scope }) => {
          await deps.batches.files.delete(scope, id)
          return told({ id, object: 'file', deleted: true })
        }),
      { parse: 'none', detail: DELETE },
    )
}

const UPLOAD = operation({
  tag: 'Batches',
  summary: 'Upload a file for a batch',
  description:
    'Free. A form with `purpose=batch` and `file`: JSONL, one request in each line, at most 200 MiB and 50,000 lines. Files and ' +
    'results of an account have 1 GiB in all, and are kept for 30 days unless the operator set another time.',
  requestSchema: Upload,
  requestType: 'multipart/form-data',
  responseSchema: FileObject,
  errors: [...ERRORS, 413, 415],
})
const LIST = operation({
  tag: 'Batches',
  summary: 'List files',
  description:
    'Free. Uploads and the files of results. `order` (`desc`, the default, or `asc`), `limit` (at most 1,000 are listed), `after` (an ' +
    'id) and `purpose`. A key sees what its member sees.',
  responseSchema: FileList,
  errors: ERRORS,
})
const GET = operation({
  tag: 'Batches',
  summary: 'Get a file',
  description: 'Free. Its size and times.',
  responseSchema: FileObject,
  errors: ERRORS,
})
const CONTENT = operation({
  tag: 'Batches',
  summary: 'Read a file',
  description: 'Free. The upload as it was sent, or a line for each result of a batch, in the order of its input.',
  errors: ERRORS,
})
const DELETE = operation({
  tag: 'Batches',
  summary: 'Delete a file',
  description: 'Free. A batch that was made of an upload keeps its lines. A file of results takes the results with it.',
  responseSchema: DeletedFile,
  errors: ERRORS,
})

function upload(deps: HttpDeps, request: Request): Promise<Response> {
  return answerFree(deps, request, async ({ payer, scope }) => {
    const { accountId, keyId } = payer
    await deps.unpaid.admitFree(payer)
    const { files, requireRoom } = deps.batches
    const room = (bytes: number) => requireRoom(accountId, bytes)
    const file = await deps.batchTurns(accountId, () =>
      inSilence(request, () => receiveFile({ files, requireRoom: room }, request, scope, keyId)),
    )
    return told(fileObject(file))
  })
}

function list(deps: HttpDeps, request: Request): Promise<Response> {
  return answerFree(deps, request, async ({ scope }) => {
    const query = new URLSearchParams(queryOf(request.url))
    const order = query.get('order') ?? 'desc'
    if (order !== 'asc' && order !== 'desc') throw invalidRequest('order: expected asc or desc.', 'order')
    const { items, hasMore } = await deps.batches.files.list(scope, {
      limit: Math.min(readLimit(query.get('limit'), MOST_LISTED, MAX_LIMIT), MOST_LISTED),
      after: query.get('after') ?? undefined,
      purpose: query.get('purpose') ?? undefined,
      isAscending: order === 'asc',
    })
    return told(listOf(items.map(fileObject), hasMore))
  })
}

/** The response with a file's content. It is streamed, so memory holds only a part of the file. */
function content(deps: HttpDeps, file: BatchFile): Response {
  const headers = { 'content-type': 'application/octet-stream', ...PRIVATE }
  return new Response(streamBytes(deps.batches.files.read(file)), { headers })
}

function unknownFile(id: string): GatewayError {
  return new GatewayError('not_found', `There is no file ${id.slice(0, 128)}.`, { param: 'file_id' })
}

/** A JSON response that only its caller may cache. */
export function told(body: object): Response {
  return Response.json(body, { headers: PRIVATE })
}

/** A page of a list in OpenAI's form. */
export function listOf(data: readonly { id: string }[], hasMore: boolean) {
  return { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: hasMore }
}

/** The page size of a list: `text`, or `standard` if it is null. Throws `invalid_request` outside 1 to `most`. */
export function readLimit(text: string | null, standard: number, most: number): number {
  if (text === null) return standard
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > most) throw invalidRequest(`limit: expected 1 to ${most}.`, 'limit')
  return limit
}
