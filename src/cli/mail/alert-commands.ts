/** The operator command that shows and sets what an account is alerted of by mail. */
import { type AlertSettings, changeSettings, MAX_ALERT_ADDRESSES, readSettings } from '@/accounts/alerts/settings'
import { type Command, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { readEmail, readText, readUsd } from '@/cli/values'
import { formatUsd, type Nano } from '@/lib/money'

const NONE = 'none'

export const ALERT_COMMANDS: readonly Command[] = [
  {
    words: 'account alerts',
    help: 'shows, and sets, below which credit an account is alerted by mail, and who gets its alerts beside its members; `none` = no alert, or nobody',
    options: {
      account: required('ID', 'the account'),
      first: optional('USD', 'the higher threshold; left out, it stays'),
      second: optional('USD', 'the lower threshold; left out, it stays'),
      addresses: optional('EMAILS', `at most ${MAX_ALERT_ADDRESSES}, with commas between them; left out, they stay`),
    },
    prepare(values) {
      const accountId = readText(values, 'account')
      const change: Partial<AlertSettings> = {
        ...(values.first !== undefined && { first: readThreshold(values, 'first') }),
        ...(values.second !== undefined && { second: readThreshold(values, 'second') }),
        ...(values.addresses !== undefined && { addresses: readAddresses(values.addresses) }),
      }
      return async ({ database, accounts, by }) => {
        if (!(await accounts.find(accountId))) fail(`no account ${accountId}`)
        if (Object.keys(change).length > 0) {
          const outcome = await changeSettings(database, { accountId, by, ...change })
          if (outcome === 'second_not_lower') fail('--second must be lower than --first')
        }
        const { first, second, addresses } = await readSettings(database.db, accountId)
        return { output: { accountId, firstUsd: usdOf(first), secondUsd: usdOf(second), addresses } }
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
