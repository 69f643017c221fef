/** Lists waiting and failed mails for operators, with the reason but not the content. */
import type { MailKind } from '@/accounts/mails/templates'
import { BY_VALUE_AND_ID } from '@/console/administration/keyset'
import type { Database } from '@/db/client'
import type { MailState } from '@/db/mail-schema'
import { type Page, type PageRequest, page } from '@/db/paging'

type MailSearch = PageRequest & {
  state?: MailState
  kind?: MailKind
  /** The whole e-mail address, in upper or lower case. */
  to?: string
}

type ListedMail = {
  mailId: string
  to: string
  kind: string
  state: MailState
  tries: number
  /** The server's last response, or the reason why there was none. */
  failure: string | null
  createdAt: string
  /** Time of the next attempt; null if finished. */
  nextTryAt: string | null
}

/** One page of mails, newest first. */
export async function searchMails({ sql }: Database, search: MailSearch): Promise<Page<ListedMail>> {
  const { state, kind, to } = search
  return await page(search, {
    checks: BY_VALUE_AND_ID,
    read: (after, limit) => sql<(ListedMail & { place: string })[]>`
    SELECT id AS "mailId", recipient AS to, kind, state, tries, failure, created_at::text AS place,
      to_json(created_at)#>>'{}' AS "createdAt", CASE WHEN state = 'waiting' THEN to_json(next_try_at)#>>'{}' END AS "nextTryAt"
    FROM mails WHERE true
      ${state === undefined ? sql`` : sql`AND state = ${state}`}
      ${kind === undefined ? sql`` : sql`AND kind = ${kind}`}
      ${to === undefined ? sql`` : sql`AND recipient = ${to.toLowerCase()}`}
      ${after === undefined ? sql`` : sql`AND (created_at, id) < (${after[0]}::text::timestamptz, ${after[1]})`}
    ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
    placeOf: (row) => [row.place, row.mailId],
    toItem: ({ place: _, ...mail }) => mail,
  })
}

type WaitingMails = {
  kind: string
  /** Mails that are sent as soon as a server accepts them. */
  waiting: number
  /** Age in seconds of the oldest waiting mail; 0 if there is none. */
  oldestSeconds: number
  /** Mails postponed to a later hour, because the hourly limit of their account or person is used up. */
  held: number
}

/** Numbers of waiting mails by kind. */
export async function countWaiting({ sql }: Database): Promise<WaitingMails[]> {
  return await sql<WaitingMails[]>`
    SELECT kind, count(*) FILTER (WHERE due_at <= now())::int AS waiting,
      coalesce(floor(extract(epoch FROM now() - min(due_at) FILTER (WHERE due_at <= now()))), 0)::int AS "oldestSeconds",
      count(*) FILTER (WHERE due_at > now())::int AS held
    FROM mails WHERE state = 'waiting' GROUP BY kind ORDER BY min(rank), kind`
}
