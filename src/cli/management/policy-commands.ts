/** The operator command for rules of all keys of an account or a member. */
import {
  changeKeyPolicy,
  changeMemberKeyPolicy,
  MAX_KEY_AGE_DAYS,
  readKeyPolicy,
  readMemberKeyPolicy,
} from '@/accounts/policies/key-policy'
import { findSold } from '@/catalog/aliases'
import type { Catalog } from '@/catalog/types'
import { type Command, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { findMember } from '@/cli/member-commands'
import { readEmail, readText } from '@/cli/values'

const EVERY = 'every'
const NONE = 'none'

export const POLICY_COMMANDS: readonly Command[] = [
  {
    words: 'account key-policy',
    help: 'sets the models and providers for all keys of an account or a member, and the maximum age of keys; then shows them',
    options: {
      account: required('ID', 'the account'),
      email: optional('E', 'of a member: of their keys alone, beside what holds for all'),
      models: optional('LIST', `ids or aliases such as svc/alpha,svc/beta, or ${EVERY}; left out, it stays`),
      providers: optional('LIST', `names of the catalogue, or ${EVERY}; left out, it stays`),
      'max-age-days': optional('n', `since a key was made or last rotated, or ${NONE}; left out, it stays`),
    },
    prepare(values) {
      const accountId = readText(values, 'account')
      const email = values.email === undefined ? undefined : readEmail(values, 'email')
      const maxKeyAgeDays = readDays(values)
      if (email !== undefined && maxKeyAgeDays !== undefined) fail('--max-age-days is of all keys: without --email')
      return async (services) => {
        const { database, ledger, by } = services
        const { catalog } = services
        const allowedModels = readList(values, 'models', (name) => modelNamed(catalog, name))
        const allowedProviders = readList(values, 'providers', (name) => catalog.providers.get(name)?.name)
        const lists = {
          ...(allowedModels !== undefined && { allowedModels }),
          ...(allowedProviders !== undefined && { allowedProviders }),
        }
        if (email !== undefined) {
          const member = await findMember(database, accountId, email)
          const of = {
            accountId,
            userId: member?.userId ?? fail(`no member of account ${accountId} has the address ${email}`),
          }
          if (Object.keys(lists).length > 0) await changeMemberKeyPolicy(database, ledger, { ...of, policy: lists, by })
          const ofMember = await readMemberKeyPolicy(database, of)
          return { output: { ...of, email, ...ofMember } }
        }
        const policy = { ...lists, ...(maxKeyAgeDays !== undefined && { maxKeyAgeDays }) }
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

function readList(
  values: Values,
  option: 'models' | 'providers',
  idOf: (name: string) => string | undefined,
): string[] | null | undefined {
  const text = values[option]
  if (text === undefined) return undefined
  if (text === EVERY) return null
  const read = (name: string) => idOf(name) ?? fail(`--${option}: there is no ${option.slice(0, -1)} ${name}`)
  return [...new Set(text.split(',').map(read))]
}

/** The model id for an id or alias; undefined for tiers. */
function modelNamed(catalog: Catalog, name: string): string | undefined {
  const sold = findSold(catalog, name)
  return sold && 'candidates' in sold ? undefined : sold?.id
}
