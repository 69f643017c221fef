/** Daily, weekly and monthly usage mails that members subscribe to: usage figures, and a link to the records. */
import type { ScheduledKind } from '@/db/alert-schema'
import type { FactRows } from '@/db/mail-schema'
import { type Block, type Template, withoutLinks } from './content'

type Period = {
  accountId: string
  accountName: string
  /** First and last day, yyyy-mm-dd, UTC. */
  from: string
  to: string
  /** 1: the figures cover only the recipient's own keys; 0: the whole account. */
  isOwn: number
}

type Digest = Period & {
  /** Cost and number of requests, each with its value in the previous period. */
  cost: string
  requests: string
  /** The most expensive entries with their cost; the last row sums up all others. */
  models: FactRows
  keys: FactRows
  members: FactRows
  /** '' for recipients who may not see the balance. */
  credit: string
  /** The day on which credit ends at the rate of the last seven days, yyyy-mm-dd; '' if nothing was spent in them. */
  lastsUntil: string
}

const DAY_HOURS = 24
/** Hours for which a mail is worth sending: until about the time of the next one. */
const HOURS: Record<ScheduledKind, number> = {
  digest_weekly: 6 * DAY_HOURS,
  digest_monthly: 14 * DAY_HOURS,
  export_daily: DAY_HOURS,
  export_weekly: 6 * DAY_HOURS,
  export_monthly: 14 * DAY_HOURS,
}

export const SCHEDULED_TEMPLATES = {
  digest_weekly: digest('digest_weekly'),
  digest_monthly: digest('digest_monthly'),
  export_daily: usageExport('export_daily'),
  export_weekly: usageExport('export_weekly'),
  export_monthly: usageExport('export_monthly'),
}

function digest(kind: ScheduledKind): Template<Digest> {
  return {
    hours: HOURS[kind],
    optional: kind,
    write: (facts) => ({
      subject: `Usage of ${withoutLinks(facts.accountName)}, ${daysOf(facts)}`,
      blocks: [
        { text: whatOf(facts) },
        {
          rows: [
            ['Cost', facts.cost],
            ['Requests', facts.requests],
          ],
        },
        ...list('Most costly models', facts.models),
        ...list('Most costly keys', named(facts.keys)),
        ...list('Members', named(facts.members)),
        ...creditOf(facts),
        { button: 'Look at the usage', page: usagePage(facts) },
      ],
    }),
  }
}

function usageExport(kind: ScheduledKind): Template<Period> {
  return {
    hours: HOURS[kind],
    optional: kind,
    write: (facts) => ({
      subject: `Usage records of ${withoutLinks(facts.accountName)}, ${daysOf(facts)}`,
      blocks: [
        { text: whatOf(facts) },
        { text: 'Sign in, and choose "Export CSV" or "JSON lines": each charged request is a row.' },
        { button: 'Open the export', page: usagePage(facts) },
      ],
    }),
  }
}

/** Removes links from names that users chose. */
function named(rows: FactRows): FactRows {
  return rows.map(([name, value]) => [withoutLinks(name), value])
}

function list(caption: string, rows: FactRows): Block[] {
  return rows.length === 0 ? [] : [{ caption, rows }]
}

function creditOf({ credit, lastsUntil }: Digest): Block[] {
  if (credit === '') return []
  const until = [['Lasts until', `${lastsUntil}, at the pace of the last 7 days`]] as const
  return [{ rows: [['Credit left', credit], ...(lastsUntil === '' ? [] : until)] }]
}

function daysOf({ from, to }: Period): string {
  return from === to ? from : `${from} to ${to}`
}

function whatOf(facts: Period): string {
  const name = withoutLinks(facts.accountName)
  const whose = facts.isOwn === 1 ? `What your own API keys in the account of ${name} used` : `What ${name} used`
  return `${whose}, ${daysOf(facts)} (UTC).`
}

function usagePage({ accountId, from, to }: Period): string {
  return `a/${accountId}/usage?range=days&from=${from}&to=${to}`
}
