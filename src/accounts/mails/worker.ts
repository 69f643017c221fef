/** Sends the mails of the outbox. Every gateway runs one worker; no two take the same mail, and none is lost if a gateway dies. */

import { unsubscribeLink } from '@/accounts/alerts/unsubscribe'
import { forgetChanges } from '@/accounts/email-addresses'
import { textArray } from '@/db/array-literal'
import type { Database } from '@/db/client'
import { describeFailure } from '@/db/failure'
import type { MailFacts } from '@/db/mail-schema'
import type { Brand } from '@/lib/brand'
import type { Logger } from '@/lib/logger'
import type { Secrets } from '@/lib/secrets'
import { type BackgroundWorker, createWorkerLoop, jittered } from '@/lib/worker-loop'
import { MAIL_TOKEN } from './outbox'
import { renderMail } from './render'
import { unseal } from './seal'
import { contentOf, MAIL_KINDS, type MailKind, optionalKindOf } from './templates'
import type { MailTransport, SendOutcome } from './transport'

/** Outcomes of one attempt. `retried`: refused for now; `refused`: no such address; `away`: the server accepts no mail. */
export const MAIL_OUTCOMES = ['sent', 'retried', 'failed', 'refused', 'expired', 'away'] as const
export type MailOutcome = (typeof MAIL_OUTCOMES)[number]

type MailWorkerDeps = {
  database: Database
  /** Undefined: mails cannot be sent here, and are deleted after their lifetime. */
  transport: MailTransport | undefined
  secrets(): Promise<Secrets>
  /** The service's address without a trailing slash; undefined: the address of the request that caused the mail. */
  publicUrl: string | undefined
  service: string
  /** The operator's colour and links; undefined: the program's colour, and no links. */
  brand?: Brand
  logger: Logger
  onOutcome(outcome: MailOutcome): void
}

export interface MailWorker extends BackgroundWorker {
  hurry(): void
  /** The mails waiting at the last check, and the age of the oldest in seconds. */
  waiting(): { mails: number; seconds: number }
}

const INTERVAL_MS = 2_000
/** Pauses vary between 0 and the full length, since many processes poll the same mails. */
const JITTER = 1
/** Mails sent at the same time, each on its own connection. */
const BATCH = 5
/** After this time, another gateway takes over a mail of a gateway that died. Longer than a try can take. */
const LEASE_SECONDS = 60
/** Delays after the first and the second refusal. */
const RETRY_SECONDS = [60, 600]
const MAX_TRIES = RETRY_SECONDS.length + 1
/** Delay while the server is away; doubled each time. */
const AWAY_SECONDS = 5
const MAX_AWAY_SECONDS = 60
const LOOK_INTERVAL_MS = 30_000
const STOP_TIMEOUT_MS = 2_000
const KEPT_DAYS = 30

/** Creates the worker. Stopping takes at most two seconds; a mail being sent then may be sent twice. */
export function createMailWorker(deps: MailWorkerDeps): MailWorker {
  const { database, transport, logger } = deps
  let waiting = { mails: 0, seconds: 0 }
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let timesAway = 0

  async function look(): Promise<void> {
    if (performance.now() - lookedAtMs < LOOK_INTERVAL_MS) return
    lookedAtMs = performance.now()
    waiting = await lookAndClean(database)
    await forgetChanges(database)
  }

  const loop = createWorkerLoop({
    async round() {
      await look()
      if (!transport) return LOOK_INTERVAL_MS
      const claimed = await claim(database)
      const outcomes = await Promise.all(claimed.map((mail) => deliver(deps, transport, mail, awaySeconds(timesAway))))
      timesAway = outcomes.includes('away') ? timesAway + 1 : 0
      return claimed.length === BATCH && timesAway === 0 ? 0 : jittered(INTERVAL_MS, JITTER)
    },
    onFailure(error) {
      logger.warn('mail_outbox_failed', { reason: describeFailure(error) })
      return jittered(INTERVAL_MS, JITTER)
    },
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
  return { start: loop.start, stop: loop.stop, hurry: () => loop.hurry(0), waiting: () => waiting }
}

function awaySeconds(timesAway: number): number {
  return Math.min(AWAY_SECONDS * 2 ** timesAway, MAX_AWAY_SECONDS)
}

type ClaimedMail = {
  id: string
  recipient: string
  kind: MailKind
  facts: MailFacts
  sealedToken: string | null
  origin: string | null
  tries: number
  isExpired: boolean
}

/** Claims due mails for the duration of an attempt, except kinds that only a newer version knows. */
async function claim({ sql: query }: Database): Promise<ClaimedMail[]> {
  return await query<ClaimedMail[]>`
    UPDATE mails SET next_try_at = now() + ${LEASE_SECONDS} * interval '1 second'
    WHERE id IN (SELECT id FROM mails WHERE state = 'waiting' AND next_try_at <= now() AND kind = ANY(${textArray(MAIL_KINDS)}::text[])
      ORDER BY rank, next_try_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
    RETURNING id, recipient, kind, facts, sealed_token AS "sealedToken", origin, tries, expires_at <= now() AS "isExpired"`
}

async function deliver(
  deps: MailWorkerDeps,
  transport: MailTransport,
  mail: ClaimedMail,
  pauseSeconds: number,
): Promise<MailOutcome> {
  const told = mail.isExpired ? ({ kind: 'expired' } as const) : await send(deps, transport, mail)
  const outcome = await note(deps.database, mail, told, pauseSeconds)
  deps.onOutcome(outcome)
  const fields = { mailId: mail.id, kind: mail.kind }
  if (outcome === 'sent') deps.logger.info('mail_sent', fields)
  else
    deps.logger.warn('mail_not_sent', { ...fields, outcome, reason: 'reason' in told && withoutAddresses(told.reason) })
  return outcome
}

async function send(deps: MailWorkerDeps, transport: MailTransport, mail: ClaimedMail): Promise<SendOutcome> {
  const { id, recipient: to, kind, facts, sealedToken, origin } = mail
  const token = sealedToken === null ? undefined : unseal(await deps.secrets(), MAIL_TOKEN, sealedToken)
  if (sealedToken !== null && token === undefined)
    return { kind: 'failed', reason: 'AUTH_SECRET was changed since and no longer has the former value' }
  const baseUrl = deps.publicUrl ?? origin ?? undefined
  const optional = await wayOutOf(deps, mail, baseUrl)
  const { service, brand } = deps
  const rendered = renderMail(contentOf(kind, facts), { baseUrl, service, brand, token, optional })
  return transport.send({ id, to, ...rendered, unsubscribeUrl: optional?.unsubscribeUrl })
}

/** The unsubscribe link of a mail. Undefined if the mail can't be turned off; without a URL if the service's address is unknown. */
async function wayOutOf(
  { secrets }: MailWorkerDeps,
  { recipient: email, kind: mailKind, facts }: ClaimedMail,
  baseUrl: string | undefined,
): Promise<{ unsubscribeUrl: string | undefined } | undefined> {
  const kind = optionalKindOf(mailKind)
  if (kind === undefined) return undefined
  if (baseUrl === undefined) return { unsubscribeUrl: undefined }
  return {
    unsubscribeUrl: baseUrl + unsubscribeLink(await secrets(), { accountId: String(facts.accountId), email, kind }),
  }
}

async function note(
  { sql: query }: Database,
  { id, recipient, tries }: ClaimedMail,
  told: SendOutcome | { kind: 'expired' },
  pauseSeconds: number,
): Promise<MailOutcome> {
  const reason = 'reason' in told ? told.reason : null
  const again = told.kind === 'away' ? pauseSeconds : told.kind === 'later' ? RETRY_SECONDS[tries] : undefined
  if (again !== undefined) {
    await query`UPDATE mails SET next_try_at = now() + ${again} * interval '1 second', failure = ${reason},
      tries = ${told.kind === 'later' ? tries + 1 : tries} WHERE id = ${id} AND state = 'waiting'`
    return told.kind === 'away' ? 'away' : 'retried'
  }
  const state = told.kind === 'sent' || told.kind === 'expired' ? told.kind : 'failed'
  const last = state === 'expired' ? 0 : 1
  await query`UPDATE mails SET state = ${state}, ended_at = now(), failure = ${reason}, tries = ${Math.min(tries + last, MAX_TRIES)},
    sealed_token = NULL, facts = '{}' WHERE id = ${id} AND state = 'waiting'`
  if (told.kind === 'refused') {
    await query`INSERT INTO refused_mail_addresses (email, reason) VALUES (${recipient}, ${reason}) ON CONFLICT DO NOTHING`
    return 'refused'
  }
  // Mail to this address was accepted again: the mailbox exists.
  if (state === 'sent') await query`DELETE FROM refused_mail_addresses WHERE email = ${recipient}`
  return state
}

async function lookAndClean({ sql: query }: Database): Promise<{ mails: number; seconds: number }> {
  await query`DELETE FROM mails WHERE created_at < now() - ${KEPT_DAYS} * interval '1 day'`
  const [row] = await query<{ mails: number; seconds: number }[]>`
    SELECT count(*)::int AS mails, coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 AS seconds
    FROM mails WHERE state = 'waiting' AND due_at <= now()`
  return row ?? { mails: 0, seconds: 0 }
}

/** Removes addresses from a server's error text, since the log must contain none. */
function withoutAddresses(reason: string): string {
  return reason.replace(/\S+@\S+/g, '…')
}
