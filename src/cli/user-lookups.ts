/** Operator commands that look at people: list, search, and one with the state of their sign-in. */
import { searchUsers } from '@/console/administration/user-search'
import { type Command, OPERAND, operand, optional, type Values } from './command'
import { fail } from './failure'
import { PAGE_OPTIONS, printPage, readPage } from './pages'
import type { Services } from './services'
import { ROLES, readChoice, readText } from './values'

const FILTERS = { role: optional(ROLES.join('|'), 'only those'), ...PAGE_OPTIONS }

export const USER_LOOKUPS: readonly Command[] = [
  {
    words: 'user list',
    help: 'lists people who may log in, newest first',
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
