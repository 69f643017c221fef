/** Operator commands for mails: waiting and failed ones with the reason, and an account's alert settings. */

import { listAlertAddresses, MAX_ALERT_ADDRESSES, setAlertAddresses } from '@/accounts/alerts/addresses'
import { type AlertSettings, changeSettings, readSettings } from '@/accounts/alerts/settings'
import { MAIL_KINDS } from '@/accounts/mails/templates'
import { type Command, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { PAGE_OPTIONS, printPage, readPage } from '@/cli/pages'
import { readChoice, readEmail, readText, readUsd } from '@/cli/values'
import { countWaiting, searchMails } from '@/console/administration/mail-search'
import { MAIL_STATES } from '@/db/mail-schema'
import { formatUsd, type Nano } from '@/lib/money'

export const MAIL_COMMANDS: readonly Command[] = [
  {
    words: 'mail list',
    help: 'lists mails of the last 30 days, newest first, with state and the server’s response, but without content',
    options: {
      state: optional(MAIL_STATES.join('|'), 'only these'),
      kind: optional('KIND', 'only this kind'),
      to: optional('EMAIL', 'only those to this address'),
      ...PAGE_OPTIONS,
    },
    prepare(values) {
      const state = readChoice(values, 'state', MAIL_STATES)
      const search = {
        ...readPage(values),
        ...(state !== undefined && { state }),
        ...(values.kind !== undefined && { kind: readChoice(values, 'kind', MAIL_KINDS) }),
        ...(values.to !== undefined && { to: readEmail(values, 'to') }),
      }
      return async ({ database }) => printPage('mails', await searchMails(database, search), (mail) => mail)
    },
  },
  {
    words: 'mail waiting',
    help: 'counts waiting mails by kind, with the age of the oldest in seconds; `held` ones wait for the next hour of their account or person',
    options: {},
    prepare:
      () =>
      async ({ database }) => ({ output: { kinds: await countWaiting(database) } }),
  },
]

const NONE = 'none'

export const ALERT_COMMANDS: readonly Command[] = [
  {
    words: 'account alerts',
    help: 'shows and sets the balance thresholds for alerts, and further recipients; `none` = no alert, or nobody',
    options: {
      account: required('ID', 'the account'),
      first: optional('USD', 'the higher threshold; left out, it stays'),
      second: optional('USD', 'the lower threshold; left out, it stays'),
      addresses: optional(
        'EMAILS',
        `at most ${MAX_ALERT_ADDRESSES}, with commas between them; they get alerts without a confirmation; left out, they stay`,
      ),
    },
    prepare(values) {
      const accountId = readText(values, 'account')
      const change: Partial<AlertSettings> = {
        ...(values.first !== undefined && { first: readThreshold(values, 'first') }),
        ...(values.second !== undefined && { second: readThreshold(values, 'second') }),
      }
      const addresses = values.addresses === undefined ? undefined : readAddresses(values.addresses)
      return async ({ database, accounts, by }) => {
        if (!(await accounts.find(accountId))) fail(`no account ${accountId}`)
        if (Object.keys(change).length > 0) {
          const outcome = await changeSettings(database, { accountId, by, ...change })
          if (outcome === 'second_not_lower') fail('--second must be lower than --first')
        }
        if (addresses) await setAlertAddresses(database, { accountId, by }, addresses)
        const { first, second } = await readSettings(database.db, accountId)
        const present = await listAlertAddresses(database.db, accountId)
        return { output: { accountId, firstUsd: usdOf(first), secondUsd: usdOf(second), addresses: present } }
      }
    },
  },
]

function readThreshold(values: Values, name: string): Nano | null {
  if (values[name] === NONE) return null
  const amount = readUsd(values, name)
  return amount > 0 ? amount : fail(`--${name} must be above 0, or none`)
}

function readAddresses(text: string): string[] {
  if (text === NONE) return []
  const addresses = text.split(',').map((address) => readEmail({ addresses: address }, 'addresses'))
  if (addresses.length > MAX_ALERT_ADDRESSES) fail(`--addresses: at most ${MAX_ALERT_ADDRESSES}`)
  return addresses
}

function usdOf(amount: Nano | null): string | null {
  return amount === null ? null : formatUsd(amount)
}
