import type { NewMail } from '@/accounts/mails/templates'
import type { FactRows } from '@/db/mail-schema'
import { formatUsd, NANO_PER_USD, nano } from '@/lib/money'
import type { Period } from './periods'
import type { Share, UsageDigest } from './read-digest'

type DigestFacts = Extract<NewMail, { kind: 'digest_weekly' }>['facts']
type Words = Pick<DigestFacts, 'cost' | 'requests' | 'models' | 'keys' | 'members' | 'credit' | 'lastsUntil'>

const DAY_MS = 86_400_000
const WEEK_DAYS = 7
/** If credit lasts longer than ten years, the mail does not mention its end. */
const MAX_DAYS = 3650
const MAX_PERCENT = 1000
const CENT_DIGITS = 2

/** Formats a usage digest as the facts of its mail. `seesCredit`: whether the recipient may see the account's balance. */
export function digestWords(
  digest: UsageDigest,
  { unit }: Period,
  { seesCredit, nowMs }: { seesCredit: boolean; nowMs: number },
): Words {
  const { cost, costBefore, requests, requestsBefore, models, keys, members } = digest
  const compared = (now: number, before: number, text: (value: number) => string) =>
    `${text(now)} (${unit} before: ${text(before)}${change(now, before)})`
  return {
    cost: compared(cost, costBefore, usdText),
    requests: compared(requests, requestsBefore, countText),
    models: rowsOf(models, cost),
    keys: rowsOf(keys, cost),
    // With a single member this list would repeat the total.
    members: members.length > 1 ? rowsOf(members, cost) : [],
    credit: seesCredit ? usdText(digest.balance) : '',
    lastsUntil: seesCredit ? lastDay(digest, nowMs) : '',
  }
}

/** The shares as rows of a mail, with a row for the remaining cost, so that the rows add up to the total. */
function rowsOf(shares: readonly Share[], total: number): FactRows {
  const rest = shares.reduce((left, { cost }) => left - cost, total)
  const rows: FactRows = shares.map(({ name, cost }) => [name, usdText(cost)])
  return rest === 0 ? rows : [...rows, ['All others', usdText(rest)]]
}

function change(now: number, before: number): string {
  if (before <= 0) return ''
  const percent = Math.round((now / before - 1) * 100)
  if (percent >= MAX_PERCENT) return ', more than 10 times as much'
  return `, ${percent < 0 ? '−' : '+'}${Math.abs(percent)} %`
}

function lastDay({ balance, spentInWeek }: UsageDigest, nowMs: number): string {
  const days = Math.floor((Math.max(0, balance) * WEEK_DAYS) / spentInWeek)
  return days <= MAX_DAYS ? new Date(nowMs + days * DAY_MS).toISOString().slice(0, 10) : ''
}

function countText(count: number): string {
  return count.toLocaleString('en-US')
}

/** USD with cents, rounded down as on the pages; below a dollar with all digits. */
function usdText(amount: number): string {
  const [whole, fraction = ''] = formatUsd(nano(amount)).split('.')
  const shown = Math.abs(amount) < NANO_PER_USD ? fraction : fraction.slice(0, CENT_DIGITS)
  return `${whole}.${shown.padEnd(CENT_DIGITS, '0')} USD`
}
