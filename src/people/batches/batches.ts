/** The operations on batches of an account. Members see a batch if they see its usage. Results are for key owners and administrators. */
import { inArray } from 'drizzle-orm'
import { recordAudit } from '@/accounts/audit'
import { mayDo } from '@/accounts/members/permissions'
import type { Batches } from '@/batches/batches'
import { readResultText } from '@/batches/results'
import type { Batch } from '@/batches/types'
import { GatewayError } from '@/chat/error'
import type { Auth } from '@/console/auth/auth'
import type { Member } from '@/console/auth/viewer'
import { type GuardDeps, notPermitted } from '@/console/http/guard'
import { fileAnswer } from '@/console/http/wire'
import { formatCursor, type Page, type PageRequest, pageSize, readCursor, textLike } from '@/db/paging'
import { apiKeys } from '@/db/schema'
import { isMessageBatch, resultLines } from '@/http/batches/message-batch'
import { isJsonObject, parseJson, textOf } from '@/lib/json'
import { streamBytes } from '@/lib/streams/stream-bytes'
import { sightOf } from '@/people/keys/authority'
import type { OperationCaller } from '@/people/operation'
import { type BatchBody, type BatchDetail, batchBody } from './bodies'

export type BatchDeps = GuardDeps & {
  auth: Pick<Auth, 'parts'>
  batches: Pick<Batches, 'find' | 'list' | 'cancel' | 'results'>
}

type Context = OperationCaller & { deps: BatchDeps }
/** The context of an operation on one batch. */
type OneBatch = Context & { params: { id: string } }

/** Maximum failed requests that are shown. */
const SHOWN_ERRORS = 10
const ALL_BUT_SUCCEEDED = ['errored', 'canceled', 'expired'] as const

/** One page of the batches that the member sees, newest first. */
export async function listBatches({ deps, viewer }: Context, query: PageRequest): Promise<Page<BatchBody>> {
  const [after] = readCursor(query.cursor, [textLike(/^\w{1,100}$/)]) ?? []
  const { items, hasMore } = await deps.batches.list(sightOf(viewer), { after, limit: pageSize(query) })
  const names = await keyNames(deps, items)
  const last = items.at(-1)
  return {
    items: items.map((batch) => batchBody(batch, names.get(batch.keyId) ?? null)),
    nextCursor: hasMore && last ? formatCursor([last.id]) : null,
  }
}

/** One batch with the first requests that failed. */
export async function showBatch(context: OneBatch): Promise<BatchDetail> {
  return await detailOf(context, await seenBatch(context))
}

/** Cancels a batch: running requests finish, and requests that have not begun are not sent. */
export async function cancelBatch(context: OneBatch): Promise<BatchDetail> {
  const { deps, viewer, by } = context
  const batch = await managedBatch(context)
  const { accountId } = viewer
  const after = (await deps.batches.cancel({ accountId }, batch.id)) ?? batch
  if (batch.status === 'in_progress') {
    const entry = { ...by, action: 'batch.cancel', subject: batch.id, accountId, details: {} }
    await deps.auth.parts.database.db.transaction((transaction) => recordAudit(transaction, entry))
  }
  return await detailOf(context, after)
}

/** The results so far as JSON lines, in the format of the batch's endpoint. `output`: the successful requests; `errors`: all others. */
export async function resultFile(context: OneBatch, kind: 'output' | 'errors'): Promise<Response> {
  const batch = await managedBatch(context)
  const { batches, auth } = context.deps
  const isErrors = kind === 'errors'
  const bytes = isMessageBatch(batch)
    ? resultLines(batches.results(batch.id, isErrors ? ALL_BUT_SUCCEEDED : ['succeeded']))
    : readResultText(auth.parts.database, batch.id, isErrors)
  return fileAnswer(`${batch.id}-${kind}.jsonl`, 'application/jsonl', streamBytes(bytes))
}

async function detailOf({ deps, viewer }: OneBatch, batch: Batch): Promise<BatchDetail> {
  const mayManage = mayManageBatch(viewer, batch)
  const [names, errors] = await Promise.all([keyNames(deps, [batch]), mayManage ? firstErrors(deps, batch) : []])
  return { item: batchBody(batch, names.get(batch.keyId) ?? null), mayManage, errors }
}

async function firstErrors({ batches }: BatchDeps, batch: Batch): Promise<BatchDetail['errors']> {
  if (batch.counts.errored === 0) return []
  for await (const results of batches.results(batch.id, ['errored'])) {
    return results.slice(0, SHOWN_ERRORS).map(({ customId, status, requestId, body }) => {
      return { customId, status, requestId, message: messageOf(body) }
    })
  }
  return []
}

/** The message of an error body. All formats have it in the same field. */
function messageOf(body: string | null): string {
  const json = parseJson(body ?? '')
  const error = isJsonObject(json) && isJsonObject(json.error) ? json.error : {}
  return textOf(error.message) ?? 'No reason is known.'
}

/** The batch, if the member sees it. Throws `not_found`. */
async function seenBatch({ deps, viewer, params }: OneBatch): Promise<Batch> {
  const batch = await deps.batches.find(sightOf(viewer), params.id)
  if (batch) return batch
  throw new GatewayError('not_found', 'Your account has no batch with this id.')
}

/** The batch, if the member may cancel it and read its results. Throws `not_found` or `forbidden`. */
async function managedBatch(context: OneBatch): Promise<Batch> {
  const batch = await seenBatch(context)
  if (!mayManageBatch(context.viewer, batch))
    throw notPermitted('Only the owner of its key and administrators may do this.')
  return batch
}

function mayManageBatch({ accountRole, userId }: Member, { madeBy }: Batch): boolean {
  return madeBy === userId || mayDo(accountRole, 'limits.raise')
}

async function keyNames({ auth }: BatchDeps, batches: readonly Batch[]): Promise<Map<string, string>> {
  const ids = [...new Set(batches.map(({ keyId }) => keyId))]
  const { db } = auth.parts.database
  const rows = await db.select({ id: apiKeys.id, name: apiKeys.name }).from(apiKeys).where(inArray(apiKeys.id, ids))
  return new Map(rows.map(({ id, name }) => [id, name]))
}
