/** Rows of the table of batches as they are read, with exact numbers and times. */
import type { Fragment, Sql } from 'postgres'
import type { PauseReason } from '@/db/batch-schema'
import { nano } from '@/lib/money'
import type { Batch } from './types'

type Times = 'createdAt' | 'endsAt' | 'cancellingAt' | 'endedAt' | 'expiresAt'
type Counts = Batch['counts']

export type BatchRow = Omit<Batch, Times | 'counts' | 'cost' | 'most' | 'paused'> &
  Counts & {
    costNano: number
    mostNano: number
    pausedFor: PauseReason | null
    pausedMessage: string | null
    createdMs: number
    endsMs: number
    cancellingMs: number | null
    endedMs: number | null
    expiresMs: number
  }

/** The columns of a {@link BatchRow}. */
export function fieldsOf(sql: Sql): Fragment {
  return sql`id, account_id AS "accountId", key_id AS "keyId", made_by AS "madeBy", endpoint, status,
    input_file_id AS "inputFileId", output_file_id AS "outputFileId", error_file_id AS "errorFileId", metadata,
    total, succeeded, errored, canceled, expired, bytes, cost_nano::bigint AS "costNano", most_nano::bigint AS "mostNano",
    to_json(models) AS models,
    paused AS "pausedFor", paused_message AS "pausedMessage",
    (extract(epoch FROM created_at) * 1000)::double precision AS "createdMs",
    (extract(epoch FROM ends_at) * 1000)::double precision AS "endsMs",
    (extract(epoch FROM cancelling_at) * 1000)::double precision AS "cancellingMs",
    (extract(epoch FROM ended_at) * 1000)::double precision AS "endedMs",
    (extract(epoch FROM expires_at) * 1000)::double precision AS "expiresMs"`
}

/** The batch of a row. */
export function toBatch(row: BatchRow): Batch {
  const { total, succeeded, errored, canceled, expired, ...rest } = row
  const { costNano, mostNano, pausedFor, pausedMessage, ...others } = rest
  const { createdMs, endsMs, cancellingMs, endedMs, expiresMs, ...fields } = others
  return {
    ...fields,
    counts: { total, succeeded, errored, canceled, expired },
    cost: nano(costNano),
    most: nano(mostNano),
    paused: pausedFor && { reason: pausedFor, message: pausedMessage ?? '' },
    createdAt: new Date(createdMs),
    endsAt: new Date(endsMs),
    cancellingAt: dateOf(cancellingMs),
    endedAt: dateOf(endedMs),
    expiresAt: new Date(expiresMs),
  }
}

function dateOf(milliseconds: number | null): Date | null {
  return milliseconds === null ? null : new Date(milliseconds)
}
