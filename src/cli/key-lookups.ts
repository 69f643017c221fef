/** Operator commands that show API keys: list, search, or one key with its limits and its account. */
import { wireOf } from '@/accounts/key-limits'
import { findKey } from '@/accounts/key-listing'
import { isWellFormedKey } from '@/accounts/key-text'
import { searchKeys } from '@/console/administration/key-search'
import type { Database } from '@/db/client'
import { type Command, OPERAND, operand, optional, type Values } from './command'
import { fail } from './failure'
import { PAGE_OPTIONS, printPage, readPage, shownKey } from './pages'
import type { Services } from './services'
import { readChoice, readText } from './values'

const STATUSES = ['active', 'deactivated', 'deleted'] as const
const FILTERS = {
  account: optional('ID', 'only of this account'),
  status: optional(STATUSES.join('|'), 'only those'),
  ...PAGE_OPTIONS,
}

export const KEY_LOOKUPS: readonly Command[] = [
  {
    words: 'key list',
    help: 'lists keys with their accounts, newest first',
    options: FILTERS,
    prepare: (values) => list(values, undefined),
  },
  {
    words: 'key search',
    help: 'finds keys by id, part of the name, or the first eight or last four characters of the key (or the last four of its former text while that works)',
    operand: operand('TEXT', 'what to look for; never a whole key'),
    options: FILTERS,
    prepare: (values) => list(values, readText(values, OPERAND)),
  },
  {
    words: 'key show',
    help: 'shows one key: owner, limits, and spending of this month',
    operand: operand('ID', "the key's id, not the key itself"),
    options: {},
    prepare(values) {
      const keyId = readText(values, OPERAND)
      return async ({ database }) => {
        const found = await lookUpKey(database, keyId)
        const { accountId, email } = found
        const key = await findKey(database, accountId, keyId)
        if (!key) return { output: { ...found } }
        const { formerSecret, createdByName: owner } = key
        return { output: { ...shownKey(key), formerSecret, accountId, email, ...wireOf(key), owner } }
      }
    },
  },
]

/** A key with its account, deleted or not. Fails if it doesn't exist. */
export async function lookUpKey(database: Database, keyId: string) {
  const found = (await searchKeys(database, { text: keyId })).items.find((key) => key.keyId === keyId)
  return found ?? fail('there is no key of that id')
}

function list(values: Values, text: string | undefined) {
  const status = readChoice(values, 'status', STATUSES)
  const filters = {
    ...readPage(values),
    ...(values.account !== undefined && { accountId: readText(values, 'account') }),
    ...(text !== undefined && { text }),
    ...(status && { status }),
  }
  return async (services: Services) => {
    const { database } = services
    if (text !== undefined && isWellFormedKey(text, services.catalog.service)) {
      fail('that is a whole key, which everybody on this machine could see: its last four characters find it')
    }
    return printPage('keys', await searchKeys(database, filters), (key) => key)
  }
}
