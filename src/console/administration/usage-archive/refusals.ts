/** When a month is not over yet for the books: too young, or with something in it that may still change. */
import { ARCHIVE_MIN_AGE_DAYS } from '@/db/usage-archive'
import { countUnsettledBefore } from '@/ledger/check/unsettled-before'
import type { RedisClient } from '@/ledger/store/connection'
import { ArchiveRefusal, type StepDeps } from './archive-step'
import { monthOf, startOf } from './months'

const MS_PER_DAY = 86_400_000

/** Throws an {@link ArchiveRefusal} where something before `before` (yyyy-mm) may still change. */
export async function requireFinished(
  { owner, redis }: StepDeps & { redis: RedisClient },
  before: string,
): Promise<void> {
  const [clock] = await owner.sql<{ now_ms: number }[]>`SELECT (extract(epoch FROM now()) * 1000)::bigint AS now_ms`
  const latest = monthOf((clock?.now_ms ?? 0) - ARCHIVE_MIN_AGE_DAYS * MS_PER_DAY)
  if (before > latest) {
    throw new ArchiveRefusal(
      `a month can be archived ${ARCHIVE_MIN_AGE_DAYS} days after its end, since until then its records may change or be asked for: the latest that can be given now is --before ${latest}`,
    )
  }
  const { records, holds } = await countUnsettledBefore(redis, startOf(before))
  if (records > 0) {
    throw new ArchiveRefusal(
      `${records} usage records from before ${before} are in Redis and have not reached Postgres: a running gateway brings them there`,
    )
  }
  if (holds > 0) {
    throw new ArchiveRefusal(
      `${holds} holds from before ${before} are open in Redis: a running gateway ends them, and \`ledger check\` names those that it can't`,
    )
  }
  const letters = await countDeadLetters(owner, startOf(before))
  if (letters > 0) {
    throw new ArchiveRefusal(
      `${letters} dead letters from before ${before} are not booked: \`ledger check\` names them, and somebody has to book them first`,
    )
  }
}

/** An entry's id begins with the time at which the ledger wrote it. */
async function countDeadLetters({ sql }: StepDeps['owner'], beforeMs: number): Promise<number> {
  const [row] = await sql<{ letters: number }[]>`
    SELECT count(*) AS letters FROM dead_letters WHERE NOT is_booked
      AND CASE WHEN entry_id ~ '^[0-9]{1,15}-[0-9]+$' THEN split_part(entry_id, '-', 1)::bigint ELSE 0 END < ${beforeMs}::text::bigint`
  return row?.letters ?? 0
}
