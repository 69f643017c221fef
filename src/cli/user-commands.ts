/** Operator commands for people who log in. Their passwords come from standard input. */
import { resetTotp, setPassword } from '@/accounts/operator-access'
import { createUser } from '@/accounts/users'
import { type Command, optional, required } from './command'
import { fail } from './failure'
import { readPassword } from './password-input'
import { readEmail } from './values'

const ROLES = ['member', 'admin'] as const

export const USER_COMMANDS: readonly Command[] = [
  {
    words: 'user create',
    help: 'creates somebody who may log in to the dashboard; reads the password from standard input',
    options: {
      email: required('E', 'unique among users'),
      role: optional(ROLES.join('|'), 'otherwise member'),
    },
    async prepare(values) {
      const email = readEmail(values, 'email')
      const role = ROLES.find((one) => one === (values.role ?? 'member'))
      if (!role) return fail(`--role must be one of ${ROLES.join(', ')}`)
      const password = await readPassword([email])
      return async ({ database, by }) => {
        const outcome = await createUser(database, { email, password, role }, by)
        if (outcome.kind !== 'created') return fail(`a user with the address ${email} exists already`)
        return { output: { userId: outcome.userId } }
      }
    },
  },
  {
    words: 'user set-password',
    help: 'gives somebody a new password, read from standard input, and ends all their sessions',
    options: { email: required('E', 'of the user') },
    async prepare(values) {
      const email = readEmail(values, 'email')
      const password = await readPassword([email])
      return async ({ database, by }) => {
        if ((await setPassword(database, email, password, by)) !== 'done') fail(`no user with the address ${email}`)
        return { output: { email } }
      }
    },
  },
  {
    words: 'user reset-totp',
    help: 'takes away an authenticator app that somebody has lost, and ends all their sessions',
    options: { email: required('E', 'of the user') },
    prepare(values) {
      const email = readEmail(values, 'email')
      return async ({ database, by }) => {
        if ((await resetTotp(database, email, by)) !== 'done') fail(`no user with the address ${email}`)
        return { output: { email } }
      }
    },
  },
]
