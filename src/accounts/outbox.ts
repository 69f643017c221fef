/**
 * The outbox of credits: sends every credit in Postgres to the ledger until the ledger has it. States of a row: **pending**: the ledger
 * hasn't answered yet. **applied** (`applied_at`): the ledger answered `credited` or `exists`. **confirmed** (`confirmed_at`): it answered
 * so again, {@link CONFIRM_AFTER_SECONDS} later. The credit is sent twice because Redis may lose its last seconds in a failover or power
 * cut. The credit's id makes repetition harmless. A second answer of `credited` means that the credit was lost and is restored. A row may
 * have to wait until another is applied (`after_entry_id`): the credit of a transfer waits for its debit.
 */
import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Database } from '@/db/client'
import { describeFailure } from '@/db/failure'
import { creditOutbox } from '@/db/schema'
import type { Ledger } from '@/ledger/ledger'
import type { Credit, CreditOutcome } from '@/ledger/outcomes'
import type { Logger } from '@/lib/logger'
import { nano } from '@/lib/money'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'

type OutboxOptions = {
  /** Pause in milliseconds while there is nothing to do or after a failure. */
  intervalMs?: number
  /** Seconds after which an applied credit is sent to the ledger again. */
  confirmAfterSeconds?: number
}

interface OutboxWorker extends BackgroundWorker {
  /** Runs one round. Returns how many rows reached their next state, and how many failed. */
  runOnce(): Promise<{ moved: number; failed: number }>
}

const CONFIRM_AFTER_SECONDS = 60
const INTERVAL_MS = 2_000
/** Pauses vary between 0 and the full length, since many processes poll the same rows. */
const JITTER = 1
const ROUND_SIZE = 200
const STOP_TIMEOUT_MS = 2_000

/** Sends the outbox of `database` to `ledger`. Any number of workers may run at once. A stop takes at most two seconds. */
export function createOutboxWorker(
  database: Database,
  ledger: Ledger,
  logger: Logger,
  options: OutboxOptions = {},
): OutboxWorker {
  const { intervalMs = INTERVAL_MS, confirmAfterSeconds = CONFIRM_AFTER_SECONDS } = options
  const { start, stop } = createWorkerLoop({
    async round() {
      const { moved } = await runOnce(database, ledger, logger, confirmAfterSeconds)
      return moved === ROUND_SIZE ? 0 : jittered(intervalMs, JITTER)
    },
    onFailure(error) {
      logger.warn('credit_outbox_failed', { reason: describeFailure(error) })
      return jittered(intervalMs, JITTER)
    },
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
  return { start, stop, runOnce: () => runOnce(database, ledger, logger, confirmAfterSeconds) }
}

/** Applies one credit and records that. Throws if the ledger or Postgres is unreachable; repeating is safe. */
export async function applyCredit({ db }: Database, ledger: Ledger, credit: Credit): Promise<CreditOutcome> {
  const outcome = await ledger.credit(credit)
  if (outcome.kind === 'unknown_account') return outcome
  await db
    .update(creditOutbox)
    .set({ appliedAt: sql`now()` })
    .where(and(eq(creditOutbox.entryId, credit.entryId), isNull(creditOutbox.appliedAt)))
  return outcome
}

type OutboxRow = { entryId: string; accountId: string; amount: number; isApplied: boolean }

async function runOnce(
  database: Database,
  ledger: Ledger,
  logger: Logger,
  confirmAfterSeconds: number,
): Promise<{ moved: number; failed: number }> {
  // Nearly always there are no rows, so the statement is prepared: that costs least.
  const rows = await database.sql<OutboxRow[]>`
    SELECT entry_id AS "entryId", account_id AS "accountId", amount_nano::bigint AS amount, applied_at IS NOT NULL AS "isApplied"
    FROM credit_outbox o
    WHERE confirmed_at IS NULL
      AND (applied_at IS NULL OR applied_at < now() - make_interval(secs => ${confirmAfterSeconds}::float8))
      AND (after_entry_id IS NULL
        OR EXISTS (SELECT FROM credit_outbox b WHERE b.entry_id = o.after_entry_id AND b.applied_at IS NOT NULL))
    ORDER BY created_at LIMIT ${ROUND_SIZE}`
  let failed = 0
  for (const { entryId, accountId, amount, isApplied } of rows) {
    try {
      const outcome = await applyCredit(database, ledger, { accountId, entryId, amount: nano(amount) })
      if (outcome.kind === 'unknown_account') throw new Error('the ledger does not know the account')
      if (!isApplied) continue
      if (outcome.kind === 'credited') logger.warn('lost_credit_restored', { accountId, entryId })
      await database.db.update(creditOutbox).set({ confirmedAt: sql`now()` }).where(eq(creditOutbox.entryId, entryId))
    } catch (error) {
      failed += 1
      logger.warn('credit_not_applied', { accountId, entryId, reason: describeFailure(error) })
    }
  }
  return { moved: rows.length - failed, failed }
}
