/** Operator commands to find and change people who sign in. Passwords come from standard input. */
import { keysEndingWith, resetTotp, setDisabled, setEmail, setPassword, setRole } from '@/accounts/operator-access'
import { createUser } from '@/accounts/users'
import { searchUsers } from '@/console/administration/user-search'
import { type Command, type CommandResult, OPERAND, operand, optional, required, type Values } from './command'
import { fail } from './failure'
import { PAGE_OPTIONS, printPage, readPage } from './pages'
import type { Services } from './services'
import { ROLES, readChoice, readEmail, readPassword, readText } from './values'

const EMAIL = required('E', 'of the user')

export const USER_COMMANDS: readonly Command[] = [
  {
    words: 'user create',
    help: 'creates a person who may sign in to the dashboard; reads the password from standard input',
    mayBeginEmpty: true,
    options: {
      email: required('E', 'unique among users'),
      role: optional(ROLES.join('|'), 'otherwise member'),
    },
    async prepare(values, surroundings) {
      const email = readEmail(values, 'email')
      const role = readChoice(values, 'role', ROLES) ?? 'member'
      const password = await readPassword(surroundings, [email])
      return async ({ database, by }) => {
        const outcome = await createUser(database, { email, password, role }, by)
        if (outcome.kind !== 'created') return fail(`a user with the address ${email} exists already`)
        return { output: { userId: outcome.userId } }
      }
    },
  },
  {
    words: 'user set-password',
    help: 'sets a person’s password, read from standard input, and ends all their sessions and links',
    options: { email: EMAIL },
    async prepare(values, surroundings) {
      const email = readEmail(values, 'email')
      const password = await readPassword(surroundings, [email])
      return async ({ database, by }) => told(email, await setPassword(database, email, password, by))
    },
  },
  {
    words: 'user set-email',
    help: 'changes a person’s sign-in address, mails the former one, and ends all their sessions and links',
    options: { email: EMAIL, to: required('E', 'the new one') },
    prepare(values) {
      const email = readEmail(values, 'email')
      const to = readEmail(values, 'to')
      return async ({ database, by }) => {
        const outcome = await setEmail(database, email, to, by)
        if (outcome === 'email_taken')
          return fail(`the address ${to} is in use, or kept for somebody who had it until lately`)
        return told(email, outcome, { to })
      }
    },
  },
  {
    words: 'user set-role',
    help: 'makes a person an administrator or a member, and ends all their sessions',
    options: { email: EMAIL, role: required(ROLES.join('|'), 'from now on') },
    prepare(values) {
      const email = readEmail(values, 'email')
      const role = readChoice(values, 'role', ROLES) ?? 'member'
      return async ({ database, by }) => told(email, await setRole(database, email, role, by), { role })
    },
  },
  {
    words: 'user disable',
    help: 'disables a person’s sign-in, ends all their sessions, and deactivates their keys and those of an account that nobody else uses',
    options: { email: EMAIL, keys: optional('keep', 'leaves the keys as they are') },
    prepare(values) {
      const email = readEmail(values, 'email')
      const keepsKeys = readChoice(values, 'keys', ['keep']) === 'keep'
      return async (services) => {
        const outcome = await setDisabled(services.database, email, true, services.by)
        const deactivatedKeys = outcome === 'done' && !keepsKeys ? await deactivateKeys(services, email) : []
        return told(email, outcome, { isDisabled: true, deactivatedKeys })
      }
    },
  },
  {
    words: 'user enable',
    help: 'enables a person’s sign-in; deactivated keys stay so until `key activate`',
    options: { email: EMAIL },
    prepare(values) {
      const email = readEmail(values, 'email')
      return async ({ database, by }) =>
        told(email, await setDisabled(database, email, false, by), { isDisabled: false })
    },
  },
  {
    words: 'user reset-2fa',
    help: 'removes a person’s authenticator app, and ends all their sessions',
    options: { email: EMAIL },
    prepare(values: Values) {
      const email = readEmail(values, 'email')
      return async ({ database, by }) => told(email, await resetTotp(database, email, by))
    },
  },
]

function told(email: string, outcome: 'done' | 'unknown_user', facts: object = {}): CommandResult {
  if (outcome === 'unknown_user') fail(`no user with the address ${email}`)
  return { output: { email, ...facts } }
}

/** Deactivates the keys that a disabled person made, and the keys of their own account if nobody else uses it. Playground keys stay. */
async function deactivateKeys({ database, apiKeys, by }: Services, email: string): Promise<string[]> {
  const keyIds = await keysEndingWith(database, email)
  for (const keyId of keyIds) await apiKeys.deactivate(keyId, undefined, by)
  return keyIds
}

const FILTERS = { role: optional(ROLES.join('|'), 'only those'), ...PAGE_OPTIONS }

export const USER_LOOKUPS: readonly Command[] = [
  {
    words: 'user list',
    help: 'lists people who may sign in, newest first',
    options: FILTERS,
    prepare: (values) => list(values, undefined),
  },
  {
    words: 'user search',
    help: 'finds people by id or by a part of their address or name',
    operand: operand('TEXT', 'what to look for, in any case'),
    options: FILTERS,
    prepare: (values) => list(values, readText(values, OPERAND)),
  },
  {
    words: 'user show',
    help: 'shows one person: role, account, second step, open sessions, whether disabled',
    operand: operand('ID|EMAIL', 'of the user'),
    options: {},
    prepare(values) {
      const text = readText(values, OPERAND)
      return async ({ database }) => {
        const { items } = await searchUsers(database, { text, limit: 100 })
        const user = items.find(({ userId, email }) => userId === text || email === text.toLowerCase())
        if (!user) return fail(`no user ${text}`)
        return { output: { ...user } }
      }
    },
  },
]

function list(values: Values, text: string | undefined) {
  const role = readChoice(values, 'role', ROLES)
  const search = { ...readPage(values), ...(text !== undefined && { text }), ...(role && { role }) }
  return async ({ database }: Services) => printPage('users', await searchUsers(database, search), (user) => user)
}
