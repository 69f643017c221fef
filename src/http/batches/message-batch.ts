/** Message batches in the form that messages clients read: the object of a batch, and the lines of its results. */
import { type Static, Type } from '@sinclair/typebox'
import type { Batch, LineResult } from '@/batches/types'
import { nanoToUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'

const Moment = Type.String({ format: 'date-time' })
const Count = Type.Integer({ minimum: 0 })

export const MessageBatch = Type.Object(
  {
    id: Type.String(),
    type: Type.Literal('message_batch'),
    processing_status: oneOf(['in_progress', 'canceling', 'ended']),
    request_counts: Type.Object(
      { processing: Count, succeeded: Count, errored: Count, canceled: Count, expired: Count },
      { description: 'Counted while the batch runs. The sum is the number of requests' },
    ),
    created_at: Moment,
    expires_at: Type.String({ format: 'date-time', description: 'The end of its window of 24 hours' }),
    ended_at: orNull(Moment),
    cancel_initiated_at: orNull(Moment),
    archived_at: Type.Null({ description: 'A batch is deleted with its results, not archived' }),
    results_url: orNull(Type.String(), { description: 'null until the batch has ended' }),
    svc: Type.Object({
      cost_usd: Type.Number({ description: 'The charges so far' }),
      most_usd: Type.Number({ description: 'The most that all requests could cost when the batch was made' }),
      paused: orNull(Type.Object({ reason: Type.String(), message: Type.String() }), {
        description: 'Why it makes no progress at the moment, such as `no_credit`',
      }),
      results_until: Type.String({ format: 'date-time', description: 'When it is deleted with its results' }),
    }),
  },
  { title: 'MessageBatch' },
)

/** The object of a batch. `results` is the address of its results. */
export function messageBatchBody(batch: Batch, results: string): Static<typeof MessageBatch> {
  const { total, ...ended } = batch.counts
  const isEnded = batch.endedAt !== null
  return {
    id: batch.id,
    type: 'message_batch',
    processing_status: isEnded ? 'ended' : batch.status === 'cancelling' ? 'canceling' : 'in_progress',
    request_counts: {
      processing: total - ended.succeeded - ended.errored - ended.canceled - ended.expired,
      ...ended,
    },
    created_at: batch.createdAt.toISOString(),
    expires_at: batch.endsAt.toISOString(),
    ended_at: batch.endedAt?.toISOString() ?? null,
    cancel_initiated_at: batch.cancellingAt?.toISOString() ?? null,
    archived_at: null,
    results_url: isEnded ? results : null,
    svc: {
      cost_usd: nanoToUsd(batch.cost),
      most_usd: nanoToUsd(batch.most),
      paused: batch.paused,
      results_until: batch.expiresAt.toISOString(),
    },
  }
}

const MESSAGE_BATCH_ID = /^msgbatch_\w{1,64}$/

/** Whether the batch was created at the endpoint for message batches. */
export function isMessageBatch({ id }: Pick<Batch, 'id'>): boolean {
  return MESSAGE_BATCH_ID.test(id)
}

/** Results as JSON lines, page by page. */
export async function* resultLines(pages: AsyncIterable<LineResult[]>): AsyncGenerator<Uint8Array> {
  for await (const results of pages) yield Buffer.from(results.map(resultLine).join(''))
}

/** One result as a line. The stored answer or error is JSON in the messages format already. */
function resultLine({ customId, state, body }: LineResult): string {
  const rest = state === 'succeeded' ? `,"message":${body}` : state === 'errored' ? `,"error":${body}` : ''
  return `{"custom_id":${JSON.stringify(customId)},"result":{"type":"${state}"${rest}}}\n`
}
