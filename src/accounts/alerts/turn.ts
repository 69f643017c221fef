/** Who looks for alerts: one gateway at a time, since a look of another one at the same accounts would only cost time. */
import { sql } from 'drizzle-orm'
import { workerTurns } from '@/db/alert-schema'
import type { Database } from '@/db/client'

const WORKER = 'alerts'

/** Takes the turn, or keeps it, for `durationMs`, by the database's clock. False where another holder has it. */
export async function takeTurn({ db }: Database, holder: string, durationMs: number): Promise<boolean> {
  const endsAt = sql`now() + ${durationMs} * interval '1 millisecond'`
  const taken = await db
    .insert(workerTurns)
    .values({ worker: WORKER, holder, endsAt })
    .onConflictDoUpdate({
      target: workerTurns.worker,
      set: { holder, endsAt },
      setWhere: sql`${workerTurns.endsAt} <= now() OR ${workerTurns.holder} = ${holder}`,
    })
    .returning({ worker: workerTurns.worker })
  return taken.length > 0
}
