/** Operator commands for operator keys: create, list, revoke. */
import { createOperatorKeys, OPERATOR_SCOPES, type OperatorScope } from '@/accounts/management/operator-keys'
import { type Command, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import type { Services } from '@/cli/services'
import { readDay, readText } from '@/cli/values'
import { parseNetwork } from '@/lib/networks'

const MAX_ADDRESSES = 50
const MAX_LIST_CHARS = 3_000

export const OPERATOR_KEY_COMMANDS: readonly Command[] = [
  {
    words: 'operator-key create',
    help: "makes a key of the operator's API, for a shop or another program of yours, and shows it, for the only time",
    options: {
      name: required('N', 'stands in the audit log beside everything that the key does'),
      scopes: required('LIST', `what it may, of ${OPERATOR_SCOPES.join(', ')}`),
      expires: optional('DAY', 'the first day (UTC) on which it does not work; otherwise it works until it is revoked'),
      addresses: optional('LIST', 'where it may be used, such as 203.0.113.0/24,2001:db8::/32; otherwise everywhere'),
    },
    prepare(values) {
      const key = {
        name: readText(values, 'name'),
        scopes: readScopes(values),
        expiresAt: readEnd(values),
        allowedAddresses: readAddresses(values),
      }
      return async (services) => ({ output: await keysOf(services, services.catalog.service).create(key, services.by) })
    },
  },
  {
    words: 'operator-key list',
    help: 'lists the operator keys that are not revoked',
    options: {},
    prepare: () => async (services) => {
      const keys = await keysOf(services).list()
      return {
        output: {
          keys: keys.map(({ prefix, lastFour, scopes, allowedAddresses, ...key }) => ({
            ...key,
            key: `${prefix}…${lastFour}`,
            scopes: scopes.join(','),
            addresses: allowedAddresses?.join(',') ?? null,
          })),
        },
      }
    },
  },
  {
    words: 'operator-key revoke',
    help: 'refuses an operator key for ever, from its next request on',
    options: { key: required('ID', "the key's id, not the key itself") },
    prepare(values) {
      const keyId = readText(values, 'key')
      return async (services) => {
        const outcome = await keysOf(services).revoke(keyId, services.by)
        if (outcome === 'unknown_key') fail('there is no operator key of that id that is not revoked')
        return { output: { keyId, status: 'revoked' } }
      }
    },
  },
]

/** The name of the service from the catalogue is only needed to create a key. So other commands work with a faulty catalogue. */
function keysOf({ database }: Services, service = '') {
  return createOperatorKeys(database, service)
}

function readScopes(values: Values): OperatorScope[] {
  const words = [...new Set(readText(values, 'scopes').split(','))]
  return words.map(
    (word) => OPERATOR_SCOPES.find((scope) => scope === word) ?? fail(`--scopes: there is no scope ${word}`),
  )
}

function readEnd(values: Values): Date | null {
  if (values.expires === undefined) return null
  const atMs = readDay(values, 'expires')
  return atMs > Date.now() ? new Date(atMs) : fail('--expires must be a day in the future')
}

function readAddresses(values: Values): string[] | null {
  if (values.addresses === undefined) return null
  const items = readText(values, 'addresses', MAX_LIST_CHARS).split(',')
  if (items.length > MAX_ADDRESSES) fail(`--addresses takes at most ${MAX_ADDRESSES} addresses and networks`)
  return items.map((item) => parseNetwork(item) ?? fail(`--addresses: '${item}' is no address or network`))
}
