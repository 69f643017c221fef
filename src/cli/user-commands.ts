/** Operator commands for people who log in. */
import { PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS } from '@/accounts/passwords'
import { createUser } from '@/accounts/users'
import { type Command, optional, required } from './command'
import { fail } from './failure'
import { readEmail } from './values'

const ROLES = ['member', 'admin'] as const

export const USER_COMMANDS: readonly Command[] = [
  {
    words: 'user create',
    help: 'creates somebody who may log in to the dashboard',
    options: {
      email: required('E', 'unique among users'),
      password: required('P', `${PASSWORD_MIN_CHARS} to ${PASSWORD_MAX_CHARS} characters`),
      role: optional(ROLES.join('|'), 'otherwise member'),
    },
    prepare(values) {
      const email = readEmail(values, 'email')
      const password = values.password ?? ''
      if (password.length < PASSWORD_MIN_CHARS || password.length > PASSWORD_MAX_CHARS) {
        fail(`--password must have ${PASSWORD_MIN_CHARS} to ${PASSWORD_MAX_CHARS} characters`)
      }
      const role = ROLES.find((one) => one === (values.role ?? 'member'))
      if (!role) return fail(`--role must be one of ${ROLES.join(', ')}`)
      return async ({ database }) => {
        const outcome = await createUser(database, { email, password, role })
        if (outcome.kind !== 'created') return fail(`a user with the address ${email} exists already`)
        return { output: { userId: outcome.userId } }
      }
    },
  },
]
