/** The operator command for an account's alerts. */
import type { AlertThresholds } from '@/accounts/alerts/thresholds'
import { type Command, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { readEmail, readText, readUsd } from '@/cli/values'
import type { Nano } from '@/lib/money'
import { listAlertAddresses, setAlertAddresses } from './addresses'
import { MAX_ALERT_ADDRESSES } from './fields'
import { changeThresholds, readThresholds, thresholdsInUsd } from './thresholds'

const NONE = 'none'

export const ALERT_COMMAND: Command = {
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
    const change: Partial<AlertThresholds> = {
      ...(values.first !== undefined && { first: readThreshold(values, 'first') }),
      ...(values.second !== undefined && { second: readThreshold(values, 'second') }),
    }
    const addresses = values.addresses === undefined ? undefined : readAddresses(values.addresses)
    return async ({ database, accounts, by }) => {
      if (!(await accounts.find(accountId))) fail(`no account ${accountId}`)
      if (Object.keys(change).length > 0) {
        const outcome = await changeThresholds(database, { accountId, by, ...change })
        if (outcome === 'second_not_lower') fail('--second must be lower than --first')
      }
      if (addresses) await setAlertAddresses(database, { accountId, by }, addresses)
      const thresholds = thresholdsInUsd(await readThresholds(database.db, accountId))
      const present = await listAlertAddresses(database.db, accountId)
      return { output: { accountId, ...thresholds, addresses: present } }
    }
  },
}

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
