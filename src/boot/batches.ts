/** Connects batches with their stores and, once the application's dependencies exist, with the code that answers their lines. */
import { sightOfKey } from '@/accounts/members/memberships'
import { type Batches, createBatches } from '@/batches/batches'
import { createBatchExpiry } from '@/batches/expiry'
import { createBatchRunner } from '@/batches/runner'
import type { Config } from '@/config/config'
import type { Database } from '@/db/client'
import { createLineAnswerer } from '@/http/batches/answer-line'
import { createBatchTurns } from '@/http/batches/turns'
import type { HttpDeps } from '@/http/deps'
import type { BackgroundWorker } from '@/lib/worker-loop'

type Parts = { config: Pick<Config, 'batchRetentionDays'>; database: Database }

/** The store of batches and files, and the function that tells which of them a key may see. */
export function assembleBatches({ config, database }: Parts): Pick<HttpDeps, 'batches' | 'batchScope' | 'batchTurns'> {
  return {
    batches: createBatches({ database, retentionDays: config.batchRetentionDays }),
    async batchScope({ accountId, keyId }) {
      const { madeBy } = await sightOfKey(database, { accountId, keyId })
      return { accountId, madeBy }
    },
    batchTurns: createBatchTurns(),
  }
}

/** The workers that run lines and delete expired batches. */
export function batchWorkers(
  deps: HttpDeps & { batches: Batches },
  { database }: Pick<Parts, 'database'>,
): BackgroundWorker[] {
  const { ledger, logger, holdTtlMs: leaseMs } = deps
  const isLeaving = () => deps.isLeaving() || deps.isDraining()
  const runner = createBatchRunner({
    ...{ database, ledger, logger, leaseMs, isLeaving },
    answerer: createLineAnswerer(deps),
  })
  deps.batches.onCreated(runner.hurry)
  return [runner, createBatchExpiry(database, logger)]
}
