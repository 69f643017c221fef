/** Operator commands for management keys: create, list, revoke. */
import { createManagementKeys } from '@/accounts/management/management-keys'
import { SCOPES, type Scope } from '@/accounts/management/scopes'
import { type Command, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import type { Services } from '@/cli/services'
import { readText } from '@/cli/values'
import { listMembers } from '@/people/members/change-members'

const NONE = 'none'
const DAY_MS = 86_400_000

export const MANAGEMENT_KEY_COMMANDS: readonly Command[] = [
  {
    words: 'management-key create',
    help: "creates a management key and shows it once; its maker is the account's first owner",
    options: {
      account: required('ID', 'the account that it manages'),
      name: required('N', 'to tell keys apart'),
      scopes: required('LIST', `what it may, of ${SCOPES.join(', ')}; or ${NONE}`),
      days: optional('n', 'until it ends; otherwise never'),
    },
    prepare(values) {
      const [accountId, name] = [readText(values, 'account'), readText(values, 'name')]
      const scopes = readScopes(values)
      const expiresAtMs = readEnd(values)
      return async (services) => {
        const createdBy = await firstOwner(services, accountId)
        const key = { accountId, name, scopes, expiresAtMs, createdBy }
        const outcome = await keysOf(services, services.catalog.service).create(key, services.by)
        if (outcome.kind === 'unknown_account') fail(`no account ${accountId}`)
        if (outcome.kind === 'not_permitted') fail('the owners were changed meanwhile: try again')
        if (outcome.kind === 'too_many_keys') fail(`the account has ${outcome.limit} management keys already`)
        return { output: { keyId: outcome.keyId, key: outcome.key } }
      }
    },
  },
  {
    words: 'management-key list',
    help: 'lists the management keys of an account that are not revoked',
    options: { account: required('ID', 'the account') },
    prepare(values) {
      const accountId = readText(values, 'account')
      return async (services) => {
        if (!(await services.accounts.find(accountId))) fail(`no account ${accountId}`)
        const keys = await keysOf(services).list(accountId)
        return {
          output: {
            keys: keys.map(
              ({ keyId, name, prefix, lastFour, scopes, createdBy, createdAt, expiresAt, lastUsedAt }) => ({
                ...{ keyId, name, key: `${prefix}…${lastFour}`, scopes: scopes.join(','), createdBy: createdBy.name },
                ...{ createdAt, expiresAt, lastUsedAt },
              }),
            ),
          },
        }
      }
    },
  },
  {
    words: 'management-key revoke',
    help: 'revokes a management key permanently, from its next request on',
    options: { key: required('ID', "the key's id, not the key itself") },
    prepare(values) {
      const keyId = readText(values, 'key')
      return async (services) => {
        const outcome = await keysOf(services).revoke(keyId, undefined, services.by)
        if (outcome === 'unknown_key') fail('there is no management key of that id that is not revoked')
        return { output: { keyId, status: 'revoked' } }
      }
    },
  },
]

/** Only creating a key needs the service's name from the catalogue. Other commands work with a faulty catalogue. */
function keysOf({ database }: Services, service = '') {
  return createManagementKeys(database, service)
}

async function firstOwner({ database, accounts }: Services, accountId: string): Promise<string> {
  if (!(await accounts.find(accountId))) fail(`no account ${accountId}`)
  const [first] = await listMembers(database, accountId)
  return first?.role === 'owner' ? first.userId : fail('the account has no owner: see account set-member')
}

function readScopes(values: Values): Scope[] {
  const text = readText(values, 'scopes')
  if (text === NONE) return []
  const words = [...new Set(text.split(','))]
  return words.map((word) => SCOPES.find((scope) => scope === word) ?? fail(`--scopes: there is no scope ${word}`))
}

function readEnd(values: Values): number | null {
  const text = values.days
  if (text === undefined) return null
  if (!/^[1-9]\d{0,3}$/.test(text)) fail('--days must be an integer from 1 to 9999')
  return Date.now() + Number(text) * DAY_MS
}
