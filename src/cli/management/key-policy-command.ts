/** The operator command for what holds for all keys of an account. */
import { changeKeyPolicy, MAX_KEY_AGE_DAYS, readKeyPolicy } from '@/accounts/policies/key-policy'
import { type Command, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import type { Services } from '@/cli/services'
import { readText } from '@/cli/values'

const EVERY = 'every'
const NONE = 'none'

export const KEY_POLICY_COMMANDS: readonly Command[] = [
  {
    words: 'account key-policy',
    help: 'says which models all keys of an account may call, and after how many days a key ends; shows it then',
    options: {
      account: required('ID', 'the account'),
      models: optional('LIST', `ids such as svc/alpha,svc/beta, or ${EVERY}; left out, it stays`),
      'max-age-days': optional('n', `since a key was made or last rotated, or ${NONE}; left out, it stays`),
    },
    prepare(values) {
      const accountId = readText(values, 'account')
      const maxKeyAgeDays = readDays(values)
      return async (services) => {
        const { database, ledger, by } = services
        const allowedModels = readModels(values, services)
        const policy = {
          ...(allowedModels !== undefined && { allowedModels }),
          ...(maxKeyAgeDays !== undefined && { maxKeyAgeDays }),
        }
        if (Object.keys(policy).length > 0) await changeKeyPolicy(database, ledger, { accountId, policy, by })
        const found = await readKeyPolicy(database, accountId)
        if (!found) fail(`no account ${accountId}`)
        return { output: { accountId, ...found } }
      }
    },
  },
]

function readDays(values: Values): number | null | undefined {
  const text = values['max-age-days']
  if (text === undefined) return undefined
  if (text === NONE) return null
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0
  return days >= 1 && days <= MAX_KEY_AGE_DAYS
    ? days
    : fail(`--max-age-days must be an integer from 1 to ${MAX_KEY_AGE_DAYS}, or ${NONE}`)
}

function readModels({ models: text }: Values, services: Services): string[] | null | undefined {
  if (text === undefined) return undefined
  if (text === EVERY) return null
  const { models } = services.catalog
  return [...new Set(text.split(','))].map((id) => (models.has(id) ? id : fail(`--models: there is no model ${id}`)))
}
