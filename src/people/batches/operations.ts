/** The operations on an account's batches. Programs with an API key don't use these, but the endpoints of batches. */
import { Type } from '@sinclair/typebox'
import { PageQuery } from '@/console/http/pages'
import { listOf } from '@/console/http/wire'
import { FileAnswer, operationsOver } from '@/people/operation'
import * as batches from './batches'
import { BatchBody, BatchDetail } from './bodies'

const operation = operationsOver<batches.BatchDeps>()

const NAMES = { id: Type.String({ pattern: '^[a-z]+_\\w{1,64}$', maxLength: 100 }) }
const JSONL_FILE = {
  200: { description: 'A result in each line', content: { 'application/jsonl': { schema: { type: 'string' } } } },
} as const

const list = operation('batch.list', 'GET /batches', 'usage.read', undefined, {
  summary: 'List batches',
  description: 'Newest first, of all endpoints; developers see their own.',
  takes: PageQuery,
  gives: listOf(BatchBody, { description: 'Newest first' }),
  run: batches.listBatches,
})

const show = operation('batch.show', 'GET /batches/:id', 'usage.read', undefined, {
  summary: 'Get a batch',
  description: 'With the first requests that failed.',
  names: NAMES,
  gives: BatchDetail,
  run: batches.showBatch,
})

const output = operation('batch.output', 'GET /batches/:id/output', 'usage.read', undefined, {
  summary: 'Download the answers of a batch',
  description:
    'Of the requests that have succeeded so far. For the owner of its key, and for owners and admins of the account.',
  names: NAMES,
  gives: FileAnswer,
  file: JSONL_FILE,
  run: (context) => batches.resultFile(context, 'output'),
})

const errors = operation('batch.errors', 'GET /batches/:id/errors', 'usage.read', undefined, {
  summary: 'Download the errors of a batch',
  description:
    'Of the requests that have failed, were canceled or have expired so far. For the same people as the answers.',
  names: NAMES,
  gives: FileAnswer,
  file: JSONL_FILE,
  run: (context) => batches.resultFile(context, 'errors'),
})

const cancel = operation('batch.cancel', 'POST /batches/:id/cancel', 'usage.read', undefined, {
  summary: 'Cancel a batch',
  description:
    'Requests that run come to their end; the others are canceled and cost nothing. Changes nothing if the batch has ended. For the owner ' +
    'of its key, and for owners and admins of the account.',
  names: NAMES,
  gives: BatchDetail,
  run: batches.cancelBatch,
})

export const BATCH_OPERATIONS = [list, show, output, errors, cancel] as const
