/** The reasons for refusing an operation on keys, as errors of routes and of commands. */
import { MAX_KEYS_PER_ACCOUNT } from '@/accounts/api-keys'
import { type Refusal, refusalError } from '@/people/operation'

const UNKNOWN_KEY = { error: 'not_found', code: 'key_not_found', message: 'There is no such API key.' } as const

/** Refusals, by the outcome of the change. */
export const KEY_REFUSALS = {
  unknown_key: { ...UNKNOWN_KEY, command: () => 'there is no key of that id' },
  deleted: { ...UNKNOWN_KEY, command: (id: string) => `the key ${id} was deleted` },
  built_in: {
    ...{ error: 'conflict', code: 'built_in_key' },
    message: 'The key of the playground can be deactivated, but not renamed, rotated or deleted.',
    command: (id: string) => `the key ${id} belongs to the service and stays`,
  },
  no_owner: {
    ...{ error: 'conflict', code: 'key_without_owner' },
    message: 'A key belongs to a member whose role allows keys. Transfer it to one.',
    command: () => 'whose key it is, is a member of the account no longer: see key transfer',
  },
  too_many_keys: {
    ...{ error: 'conflict', code: 'too_many_keys' },
    message: `An account has at most ${MAX_KEYS_PER_ACCOUNT} keys. Delete one that is not used.`,
    command: () => `the account has ${MAX_KEYS_PER_ACCOUNT} keys already`,
  },
  unknown_account: {
    ...{ error: 'not_found', message: 'The account does not exist.' },
    command: (id: string) => `no account ${id}`,
  },
} as const satisfies Record<string, Refusal>

/** The error of a route for a refused operation. */
export function refused(kind: keyof typeof KEY_REFUSALS) {
  return refusalError(KEY_REFUSALS[kind])
}
