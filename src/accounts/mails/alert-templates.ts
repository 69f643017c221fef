/** Alert mails: a threshold that an account, member or key has crossed. Each person can turn off each kind. */
import type { AlertKind } from '@/db/alert-schema'
import type { FactAlerts, MailFacts } from '@/db/mail-schema'
import type { BudgetScope, BudgetWindow } from '@/ledger/budgets'
import { type Block, type MailContent, momentText, type Template, withoutLinks } from './content'

/** The account that each alert mail names, for the mail's links and for turning alerts off. */
type OfAccount = { accountId: string; accountName: string }

type Budget = OfAccount & {
  scope: BudgetScope
  /** Name of the member or key; '' for the account. */
  scopeName: string
  window: BudgetWindow
  percent: number
  spent: string
  limit: string
  /** End of the budget's window, ISO 8601; '' if the budget never starts again. */
  endsAt: string
}

type LowBalance = OfAccount & {
  balance: string
  threshold: string
  /** Whole days that credit lasts at the rate of the last seven days; -1 if nothing was spent in them. */
  daysLeft: number
}

const HOURS = 7 * 24
const ENDS = 'Requests are refused from then on: give the programs that use it another key, or move its end.'

const SINGLE_TEMPLATES = {
  balance_low: alert('balance', ({ accountId, accountName, balance, threshold, daysLeft }: LowBalance) => ({
    subject: `Credit of ${withoutLinks(accountName)} is low: ${balance}`,
    blocks: [
      { text: `The credit of the account of ${withoutLinks(accountName)} has fallen below ${threshold}.` },
      { rows: [['Left', balance], ...(daysLeft < 0 ? [] : [['Lasts for', lastsFor(daysLeft)] as const])] },
      { text: 'Requests that cost more than what is left are refused.' },
      { button: 'Add credit', page: `a/${accountId}/credit` },
    ],
  })),
  balance_empty: alert('balance', ({ accountId, accountName }: OfAccount) => ({
    subject: `Credit of ${withoutLinks(accountName)} is used up`,
    blocks: [
      {
        text: `Less than a cent is left in the account of ${withoutLinks(accountName)}. Requests are refused until there is credit.`,
      },
      { button: 'Add credit', page: `a/${accountId}/credit` },
    ],
  })),
  budget_reached: alert('budget', (facts: Budget) => ({
    subject: `${facts.percent} % of ${WHOSE[facts.scope]} for ${WINDOWS[facts.window]} is spent`,
    blocks: [
      {
        text:
          facts.percent === 100
            ? 'The budget is used up: requests are refused until it begins anew, or is raised.'
            : 'Requests are refused when it is used up, until it begins anew or is raised.',
      },
      {
        rows: [
          ['Account', withoutLinks(facts.accountName)],
          ...(facts.scope === 'account'
            ? []
            : [[facts.scope === 'key' ? 'Key' : 'Member', withoutLinks(facts.scopeName)] as const]),
          ['Spent', facts.spent],
          ['Budget', `${facts.limit} for ${WINDOWS[facts.window]}`],
          ...(facts.endsAt === '' ? [] : [['Begins anew', momentText(facts.endsAt)] as const]),
        ],
      },
      { button: 'Look at the budgets', page: `a/${facts.accountId}/budgets` },
    ],
  })),
  spend_unusual: alert(
    'spend',
    ({ accountId, accountName, spent, median }: OfAccount & { spent: string; median: string }) => ({
      subject: `${withoutLinks(accountName)} has spent unusually much today`,
      blocks: [
        {
          text: `The account of ${withoutLinks(accountName)} has spent more than three times as much today as on a usual day.`,
        },
        {
          rows: [
            ['Today (UTC)', spent],
            ['Usual day', `${median}, the median of the last 14`],
          ],
        },
        { button: 'Look at the usage', page: `a/${accountId}/usage` },
      ],
    }),
  ),
  key_expires: alert(
    'key_expiry',
    (facts: OfAccount & { keyId: string; keyName: string; days: number; endsAt: string }) => ({
      subject: `The API key ${withoutLinks(facts.keyName)} expires in ${facts.days === 1 ? 'a day' : `${facts.days} days`}`,
      blocks: [
        { text: `An API key of the account of ${withoutLinks(facts.accountName)} is about to expire. ${ENDS}` },
        {
          rows: [
            ['Key', withoutLinks(facts.keyName)],
            ['Expires', momentText(facts.endsAt)],
          ],
        },
        { button: 'Look at the key', page: `a/${facts.accountId}/keys/${facts.keyId}` },
      ],
    }),
  ),
  former_key_ends: alert(
    'key_expiry',
    (facts: OfAccount & { keyId: string; keyName: string; lastFour: string; endsAt: string; lastUsedAt: string }) => ({
      subject: `The former text of the API key ${withoutLinks(facts.keyName)} ends, and is still used`,
      blocks: [
        {
          text: `An API key of the account of ${withoutLinks(facts.accountName)} was rotated, and a program still uses the text that it had before. Requests with that text are refused from its end on: give the program the new one.`,
        },
        {
          rows: [
            ['Key', withoutLinks(facts.keyName)],
            ['Former text', `ends in ${facts.lastFour}`],
            ['Works until', momentText(facts.endsAt)],
            ['Last used', momentText(facts.lastUsedAt)],
          ],
        },
        { button: 'Look at the key', page: `a/${facts.accountId}/keys/${facts.keyId}` },
      ],
    }),
  ),
}

/** Maximum alerts that one mail lists. It only counts further ones. */
const MAX_LISTED = 20

export const ALERT_TEMPLATES = {
  ...SINGLE_TEMPLATES,
  several_alerts: {
    hours: HOURS,
    optional: 'alerts',
    write: ({ accountId, accountName, alerts }: OfAccount & { alerts: FactAlerts }) => ({
      subject: `${alerts.length} alerts of ${withoutLinks(accountName)}`,
      blocks: [
        ...alerts.slice(0, MAX_LISTED).flatMap(blocksOf),
        ...(alerts.length > MAX_LISTED ? [{ text: `And ${alerts.length - MAX_LISTED} more.` }] : []),
        { button: 'Look at the account', page: `a/${accountId}` },
      ],
    }),
  } satisfies Template<OfAccount & { alerts: FactAlerts }>,
}

export type SingleAlertKind = keyof typeof SINGLE_TEMPLATES

function blocksOf({ kind, facts }: FactAlerts[number]): Block[] {
  const template = SINGLE_TEMPLATES[kind as SingleAlertKind] as Template<FactAlerts[number]['facts']>
  const { subject, blocks } = template.write(facts)
  return [{ text: `${subject}.` }, ...blocks.filter((block) => 'rows' in block)]
}

const WHOSE: Record<BudgetScope, string> = { account: 'the budget', member: "a member's budget", key: "a key's budget" }
const WINDOWS: Record<BudgetWindow, string> = {
  day: 'the day',
  week: 'the week',
  month: 'the month',
  total: 'all time',
}

function lastsFor(days: number): string {
  if (days < 1) return 'less than a day at the pace of the last 7'
  return `${days === 1 ? 'about a day' : `about ${days} days`} at the pace of the last 7`
}

function alert<Facts extends OfAccount & MailFacts>(
  kind: AlertKind,
  write: (facts: Facts) => MailContent & { blocks: readonly Block[] },
): Template<Facts> {
  return { hours: HOURS, optional: kind, write }
}
