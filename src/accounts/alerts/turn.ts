import { sql } from 'drizzle-orm'
import { workerTurns } from '@/db/alert-schema'
import type { Database } from '@/db/client'

const WORKER = 'alerts'

/** Takes or renews the lease for checking alerts, by the database's clock. Returns false if another gateway holds the lease. */
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
