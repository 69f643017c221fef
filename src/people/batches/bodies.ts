/** Batches in responses for people, with amounts as decimal text. */
import { type Static, Type } from '@sinclair/typebox'
import type { Batch } from '@/batches/types'
import { exactUsd, NullableText } from '@/console/http/wire'
import { titled } from '@/http/openapi/titled'
import { formatUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { BATCH_STATES, PAUSES } from './fields'

const Count = Type.Integer()

export const BatchBody = titled('BatchOverview', {
  id: Type.String(),
  endpoint: Type.String({
    description: 'The path to which each of its requests could be sent',
    examples: ['/v1/messages'],
  }),
  models: Type.Array(Type.String(), { description: 'The requested models, the first ten' }),
  keyId: Type.String(),
  keyName: NullableText,
  state: oneOf(BATCH_STATES),
  pause: orNull(oneOf(PAUSES), { description: 'Why it is paused' }),
  requests: Type.Object({
    total: Count,
    succeeded: Count,
    errored: Count,
    canceled: Count,
    expired: Count,
  }),
  costUsd: exactUsd('The cost so far'),
  mostUsd: exactUsd('The most that it can cost'),
  createdAt: Type.String(),
  endsAt: Type.String({ description: 'When its remaining requests expire' }),
  endedAt: NullableText,
  expiresAt: Type.String({ description: 'When it is deleted with its results' }),
})
export type BatchBody = Static<typeof BatchBody>

export const BatchDetail = titled('BatchDetail', {
  item: BatchBody,
  mayManage: Type.Boolean({ description: 'Whether one may cancel it, and read its results' }),
  errors: Type.Array(
    Type.Object({
      customId: Type.String(),
      status: orNull(Type.Integer(), { description: 'The HTTP status of its answer' }),
      message: Type.String(),
      requestId: NullableText,
    }),
    { description: 'The first requests that failed; empty for those who may not read its results' },
  ),
})
export type BatchDetail = Static<typeof BatchDetail>

/** The overview of `batch`. `keyName` is null for a deleted key. */
export function batchBody(batch: Batch, keyName: string | null): BatchBody {
  const { id, endpoint, models, keyId, status, paused, counts, endedAt } = batch
  return {
    ...{ id, endpoint, keyId, keyName, models: [...models], requests: counts },
    state: status === 'validating' ? 'in_progress' : status === 'in_progress' && paused ? 'paused' : status,
    pause: paused?.reason ?? null,
    costUsd: formatUsd(batch.cost),
    mostUsd: formatUsd(batch.most),
    createdAt: batch.createdAt.toISOString(),
    endsAt: batch.endsAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    expiresAt: batch.expiresAt.toISOString(),
  }
}
