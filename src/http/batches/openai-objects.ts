/** Files and batches as OpenAI's API shows them. */
import { type Static, Type } from '@sinclair/typebox'
import type { Batch, BatchFile } from '@/batches/types'
import { nanoToUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'

const Seconds = Type.Integer({ description: 'Unix seconds' })
const MaybeSeconds = orNull(Seconds)
const Count = Type.Integer({ minimum: 0 })

export const FileObject = Type.Object(
  {
    id: Type.String({ examples: ['file-0aZ'] }),
    object: Type.Literal('file'),
    bytes: Count,
    created_at: Seconds,
    expires_at: Seconds,
    filename: Type.String(),
    purpose: oneOf(['batch', 'batch_output']),
    status: Type.Literal('processed'),
  },
  { title: 'File' },
)

const BatchError = Type.Object({
  code: Type.String(),
  line: orNull(Type.Integer()),
  message: Type.String(),
  param: orNull(Type.String()),
})

export const BatchObject = Type.Object(
  {
    id: Type.String({ examples: ['batch_0aZ'] }),
    object: Type.Literal('batch'),
    endpoint: Type.String({ examples: ['/v1/chat/completions'] }),
    errors: orNull(Type.Object({ object: Type.Literal('list'), data: Type.Array(BatchError) }), {
      description: 'Always null: a faulty file makes no batch, and the 400 has its errors',
    }),
    input_file_id: Type.String(),
    completion_window: Type.Literal('24h'),
    status: oneOf(['in_progress', 'completed', 'expired', 'cancelling', 'cancelled']),
    output_file_id: orNull(Type.String(), { description: 'Null until the batch has ended, and if no line succeeded' }),
    error_file_id: orNull(Type.String(), { description: 'Null until the batch has ended, and if no line failed' }),
    created_at: Seconds,
    in_progress_at: MaybeSeconds,
    expires_at: MaybeSeconds,
    finalizing_at: MaybeSeconds,
    completed_at: MaybeSeconds,
    failed_at: MaybeSeconds,
    expired_at: MaybeSeconds,
    cancelling_at: MaybeSeconds,
    cancelled_at: MaybeSeconds,
    request_counts: Type.Object({ total: Count, completed: Count, failed: Count }),
    metadata: orNull(Type.Record(Type.String(), Type.String())),
    svc: Type.Object(
      {
        cost_usd: Type.Number({ description: 'The charges so far' }),
        most_usd: Type.Number({ description: 'The most that all lines could cost when the batch was made' }),
        paused: orNull(
          Type.Object({
            reason: oneOf(['no_credit', 'key_disabled', 'storage_full']),
            message: Type.String(),
          }),
          { description: 'Why it waits although it has lines to run' },
        ),
      },
      { description: 'What only this service tells' },
    ),
  },
  { title: 'Batch' },
)

/** A file in OpenAI's form. */
export function fileObject({ id, bytes, createdAt, expiresAt, name, purpose }: BatchFile): Static<typeof FileObject> {
  return {
    id,
    object: 'file',
    bytes,
    created_at: seconds(createdAt),
    expires_at: seconds(expiresAt),
    filename: name,
    purpose,
    status: 'processed',
  }
}

/** A batch in OpenAI's form. */
export function batchObject(batch: Batch): Static<typeof BatchObject> {
  const { counts, status, endedAt } = batch
  const endedAs = (wanted: Batch['status']) => (status === wanted && endedAt ? seconds(endedAt) : null)
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    errors: null,
    input_file_id: batch.inputFileId ?? '',
    completion_window: '24h',
    status: status === 'validating' ? 'in_progress' : status,
    output_file_id: batch.outputFileId,
    error_file_id: batch.errorFileId,
    created_at: seconds(batch.createdAt),
    in_progress_at: seconds(batch.createdAt),
    expires_at: seconds(batch.endsAt),
    finalizing_at: endedAt && seconds(endedAt),
    completed_at: endedAs('completed'),
    failed_at: null,
    expired_at: endedAs('expired'),
    cancelling_at: batch.cancellingAt && seconds(batch.cancellingAt),
    cancelled_at: endedAs('cancelled'),
    request_counts: { total: counts.total, completed: counts.succeeded, failed: counts.errored + counts.expired },
    metadata: batch.metadata,
    svc: { cost_usd: nanoToUsd(batch.cost), most_usd: nanoToUsd(batch.most), paused: batch.paused },
  }
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}
