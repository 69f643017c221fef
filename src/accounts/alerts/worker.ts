import { writeScheduledMails } from '@/accounts/scheduled-mails/write-due'
import type { Database } from '@/db/client'
import { describeFailure, sumApart } from '@/db/failure'
import type { Clock } from '@/lib/clock'
import { randomId } from '@/lib/ids'
import type { Logger } from '@/lib/logger'
import { createPace, type Pace } from '@/lib/pace'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'
import { PAUSE_MS } from './crossings'
import { endingSecrets } from './former-secrets'
import { type Reminder, tellOnce } from './look'
import { lookAtMany } from './look-at-many'
import { takeTurn } from './turn'

type AlertDeps = {
  database: Database
  clock: Pick<Clock, 'now'>
  logger: Logger
  /** All charges before this time (milliseconds since 1970) are in Postgres. */
  bookedUntilMs(): number
}

const INTERVAL_MS = 20_000
const JITTER = 1
/** Duration of the lease, longer than a round takes. After it, another gateway replaces one that died. */
const TURN_MS = 60_000
/** After all accounts were checked, the next pass begins no sooner than this. */
const PAUSE_BETWEEN_MS = 10_000
/** Accounts read per statement, accounts checked together, and keys reminded of in one round. */
const PAGE_SIZE = 5_000
const LOOK_SIZE = 200
const KEYS_SIZE = 100
/** The share of time in which the worker works. The remaining time is left to paid requests. */
const WORK_SHARE = 0.1
const STOP_TIMEOUT_MS = 2_000
/** Days before a key's end at which an alert is sent. */
const DAYS_BEFORE_END = [7, 1] as const

interface AlertWorker extends BackgroundWorker {
  /** Runs one round. Returns the number of alerts and scheduled mails that were due. */
  runOnce(): Promise<number>
}

/** Background worker for alerts and scheduled mails, at one gateway at a time. It runs every `intervalMs`, varied by half. */
export function createAlertWorker(deps: AlertDeps, intervalMs = INTERVAL_MS): AlertWorker {
  const { database, clock, logger, bookedUntilMs } = deps
  /** Last account of a full page: the next round continues after it, so that every account has its turn. */
  let after = ''

  async function lookAtAccounts(rest: Pace): Promise<number> {
    const page = await accountsToLookAt(database, after, clock.now())
    after = page.length === PAGE_SIZE ? (page.at(-1) ?? '') : ''
    const parts = Array.from({ length: Math.ceil(page.length / LOOK_SIZE) }, (_, part) => part * LOOK_SIZE)
    return await sumApart(parts, async (from) => {
      if (loop.isStopping()) return 0
      const due = await lookAtMany(database, page.slice(from, from + LOOK_SIZE), clock.now())
      await rest()
      return due
    })
  }

  async function runOnce(rest: Pace = async () => undefined): Promise<number> {
    const nowMs = clock.now()
    const parts = [
      () => remindOfKeys(database, nowMs),
      () => lookAtAccounts(rest),
      () => writeScheduledMails(database, { nowMs, bookedUntilMs: bookedUntilMs() }),
    ]
    return await sumApart(parts, (part) => part())
  }

  const holder = randomId('worker')
  const pace = createPace(WORK_SHARE)
  const loop = createWorkerLoop({
    async round() {
      if (!(await takeTurn(database, holder, TURN_MS))) return jittered(intervalMs, JITTER)
      const alerts = await runOnce(pace)
      if (after === '') await takeTurn(database, holder, PAUSE_BETWEEN_MS)
      if (alerts > 0) logger.info('alerts_written', { alerts })
      return after === '' ? jittered(intervalMs, JITTER) : 0
    },
    onFailure(error) {
      logger.warn('alerts_failed', { reason: describeFailure(error) })
      return jittered(intervalMs, JITTER)
    },
    firstPauseMs: jittered(intervalMs, JITTER),
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
  return { start: loop.start, stop: loop.stop, runOnce }
}

/** Ids of accounts with usage in the last days and new spending since their last check, and of accounts with a postponed mail. */
async function accountsToLookAt({ sql: query }: Database, after: string, nowMs: number): Promise<string[]> {
  const pausedUntil = new Date(nowMs - PAUSE_MS).toISOString()
  const rows = await query<{ id: string }[]>`
    SELECT a.id FROM accounts a LEFT JOIN alert_looks l ON l.account_id = a.id
    WHERE a.id IN (SELECT account_id FROM usage_daily WHERE day >= current_date - 2)
      AND a.spent_nano IS DISTINCT FROM l.spent_nano AND a.id > ${after}
    UNION
    SELECT account_id FROM alert_states WHERE is_pending AND fired_at <= ${pausedUntil}::text::timestamptz AND account_id > ${after}
    ORDER BY id LIMIT ${PAGE_SIZE}`
  return rows.map(({ id }) => id)
}

type EndingKey = {
  keyId: string
  accountId: string
  accountName: string
  name: string
  owner: string | null
  endMs: number
}

async function remindOfKeys(database: Database, nowMs: number): Promise<number> {
  const reminders = [...(await keysToRemindOf(database, nowMs)), ...(await endingSecrets(database, nowMs))]
  const byAccount = Map.groupBy(reminders, ({ accountId }) => accountId)
  return await sumApart([...byAccount], ([accountId, own]) => tellOnce(database, accountId, own, nowMs))
}

/** Reminders of keys that end soon, by expiry or maximum age: one at each of {@link DAYS_BEFORE_END}. If both are due, only the later. */
async function keysToRemindOf(database: Database, nowMs: number): Promise<Reminder[]> {
  const now = new Date(nowMs).toISOString()
  const found = new Map<string, Reminder>()
  for (const days of DAYS_BEFORE_END) {
    const keys = await database.sql<EndingKey[]>`
      SELECT id AS "keyId", account_id AS "accountId", account_name AS "accountName", name, created_by AS owner, end_ms AS "endMs"
      FROM (
        SELECT k.*, a.name AS account_name, floor(extract(epoch FROM ends_at) * 1000)::bigint AS end_ms
        FROM (${endingKeys(database.sql)}) k JOIN accounts a ON a.id = k.account_id
        WHERE ends_at > ${now}::text::timestamptz AND ends_at <= ${now}::text::timestamptz + ${days} * interval '1 day'
          AND ends_at > since + ${days} * interval '1 day') k
      WHERE NOT EXISTS (SELECT FROM alert_states s WHERE s.account_id = k.account_id AND s.name = 'key_expiry:' || k.id
        AND s.mark = end_ms AND s.level <= ${days})
      LIMIT ${KEYS_SIZE}`
    for (const key of keys) found.set(key.keyId, reminderOf(key, days))
  }
  return [...found.values()]
}

/** Selects keys with an end (`ends_at`), and their secret's creation (`since`). Same rule as `effectiveLimits`, but uses both indexes. */
function endingKeys(query: Database['sql']) {
  const own = query`k.id, k.account_id, k.name, k.created_by, coalesce(k.secret_since, k.created_at) AS since`
  const ofAge = query`coalesce(k.secret_since, k.created_at) + a.max_key_age_days * interval '1 day'`
  return query`
    SELECT ${own}, k.expires_at AS ends_at FROM api_keys k JOIN accounts a ON a.id = k.account_id
    WHERE k.status = 'active' AND k.expires_at IS NOT NULL
      AND (a.max_key_age_days IS NULL OR k.built_in IS NOT NULL OR k.expires_at <= ${ofAge})
    UNION ALL
    SELECT ${own}, ${ofAge} AS ends_at FROM accounts a JOIN api_keys k ON k.account_id = a.id
    WHERE a.max_key_age_days IS NOT NULL AND k.status = 'active' AND k.built_in IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > ${ofAge})`
}

function reminderOf({ keyId, accountId, accountName, name: keyName, owner, endMs }: EndingKey, days: number): Reminder {
  const facts = { accountId, accountName, keyId, keyName, days, endsAt: new Date(endMs).toISOString() }
  const state = { accountId, name: `key_expiry:${keyId}`, mark: endMs, level: days }
  return { ...state, alert: { mail: { kind: 'key_expires', facts }, memberId: owner } }
}
