/** The operator's commands that make, change and end API keys. */
import { ceilingsOf, changeAccountLimits, limitsAbove } from '@/accounts/account-limits'
import { changeAccountAddresses } from '@/accounts/addresses/addresses'
import type { ApiKeys, ChangeKeyOutcome, KeyChanges, NewKey } from '@/accounts/api-keys'
import type { ChangedBy } from '@/accounts/audit'
import { DEFAULT_OVERLAP, OVERLAP_RULE, parseOverlap } from '@/accounts/rotation/rotate-key'
import { type Command, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { lookUpKey } from '@/cli/key-lookups'
import type { Services } from '@/cli/services'
import { MAX_LIMITS, readBudget, readEmail, readOptionalCount, readText } from '@/cli/values'
import { parseNetwork } from '@/lib/networks'
import { findByEmail } from '@/people/members/change-members'
import { readTag, tagName } from '@/usage/tags'
import { KEY_FIELDS } from './fields'
import { KEY_REFUSALS } from './refusals'
import { RULE_OPTIONS, readRules } from './rule-options'

const KEY = required('ID', "the key's id, not the key itself")
const ALLOW = required('LIST', 'addresses and networks such as 203.0.113.0/24,2001:db8::/32, or everywhere')

/** Maximum characters of a list option: enough for fifty IPv6 networks, or for the maximum of tags. */
const MAX_LIST_CHARS = 3_000

function expectKind<Outcome extends { kind: string }, Kind extends string>(
  id: string,
  outcome: Outcome,
  kind: Kind,
): asserts outcome is Extract<Outcome, { kind: Kind }> {
  if (outcome.kind !== kind) fail(KEY_REFUSALS[outcome.kind as keyof typeof KEY_REFUSALS].command(id))
}

/** A command on one key; `read` reads its options before any store is opened. */
function onKey<Read>(
  verb: string,
  help: string,
  options: Command['options'],
  read: (values: Values) => Read,
  run: (services: Services, keyId: string, read: Read) => Promise<Record<string, unknown>>,
): Command {
  return {
    ...{ words: `key ${verb}`, help, options: { key: KEY, ...options } },
    prepare(values) {
      const [keyId, taken] = [readText(values, 'key'), read(values)]
      return async (services) => ({ output: { keyId, ...(await run(services, keyId, taken)) } })
    },
  }
}

/** A command that changes the state of a key. */
export function stateCommand(
  verb: string,
  help: string,
  change: (apiKeys: ApiKeys, keyId: string, accountId: undefined, by: ChangedBy) => Promise<ChangeKeyOutcome>,
): Command {
  return onKey(
    verb,
    help,
    {},
    () => undefined,
    async ({ apiKeys, by }, keyId) => {
      const outcome = await change(apiKeys, keyId, undefined, by)
      expectKind(keyId, outcome, 'updated')
      return { status: outcome.status }
    },
  )
}

/** A command that changes one field of a key. */
function fieldCommand<Field extends 'allowedAddresses' | 'tags'>(
  verb: string,
  help: string,
  field: Field,
  options: Command['options'],
  read: (values: Values) => KeyChanges[Field],
): Command {
  return onKey(verb, help, options, read, async ({ apiKeys, by }, keyId, value) => {
    expectKind(keyId, await apiKeys.change(keyId, { [field]: value }, undefined, by), 'updated')
    return { [field]: value }
  })
}

export const CHANGE_COMMANDS = [
  fieldCommand(
    'addresses',
    'sets the addresses from which a key may be used, among those of its account',
    'allowedAddresses',
    { allow: ALLOW },
    readNetworks,
  ),
  fieldCommand(
    'tags',
    'sets the tags of all usage of a key, which override tags of its requests',
    'tags',
    { set: required('LIST', `at most ${KEY_FIELDS.tags.items.most} such as team=search,env=prod, or none`) },
    readTagList,
  ),
]

export const RULES_COMMAND = onKey(
  'rules',
  'sets the rules of a key, within those for all keys of its account and member',
  RULE_OPTIONS,
  readRules,
  async ({ apiKeys, catalog, by }, keyId, rulesIn) => {
    const rules = rulesIn(catalog)
    expectKind(keyId, await apiKeys.change(keyId, rules, undefined, by), 'updated')
    return rules
  },
)

export const ROTATE_COMMAND = onKey(
  'rotate',
  'gives a key a new text and shows it once; the old text works for a while',
  {
    overlap: optional(
      'TIME',
      `how long the text before works: 0, or such as 30m, 24h, 7d; ${DEFAULT_OVERLAP} by default`,
    ),
  },
  (values) =>
    parseOverlap(values.overlap === undefined ? DEFAULT_OVERLAP : readText(values, 'overlap')) ??
    fail(`--overlap ${OVERLAP_RULE}`),
  async ({ apiKeys, by }, keyId, overlapMs) => {
    const outcome = await apiKeys.rotate(keyId, overlapMs, undefined, by)
    expectKind(keyId, outcome, 'rotated')
    return { key: outcome.key, formerEndsAt: outcome.formerEndsAt }
  },
)

export const TRANSFER_COMMAND = onKey(
  'transfer',
  'transfers a key to another member; running requests stay with the former one',
  { email: required('E', 'of a member whose role allows keys') },
  (values) => readEmail(values, 'email'),
  async ({ database, apiKeys, by }, keyId, email) => {
    const { accountId } = await lookUpKey(database, keyId)
    const member = await findByEmail(database, accountId, email)
    if (!member) fail(`${email} is no member of the account ${accountId}`)
    const outcome = await apiKeys.transfer(keyId, accountId, member.userId, by)
    if (outcome.kind === 'no_owner') fail(`the role of ${email} in the account allows no keys`)
    expectKind(keyId, outcome, 'updated')
    return { accountId, userId: member.userId, status: outcome.status }
  },
)

export const CREATE_COMMAND: Command = {
  words: 'key create',
  help: 'creates an API key of the account, without a member, and shows it once',
  options: {
    account: required('ID', 'the account that pays'),
    name: required('N', 'to tell keys apart'),
    'requests-per-minute': optional('n', "otherwise the catalogue's; above the account's limit, raises that too"),
    'tokens-per-minute': optional('n', 'as above'),
    concurrency: optional('n', 'requests at once; as above'),
    'monthly-budget-usd': optional('USD', 'the most per calendar month (UTC); none by default'),
  },
  prepare(values) {
    const key = {
      accountId: readText(values, 'account'),
      name: readText(values, 'name'),
      requestsPerMinute: readOptionalCount(values, 'requests-per-minute', MAX_LIMITS.requestsPerMinute),
      tokensPerMinute: readOptionalCount(values, 'tokens-per-minute', MAX_LIMITS.tokensPerMinute),
      concurrency: readOptionalCount(values, 'concurrency', MAX_LIMITS.concurrency),
      monthlyBudget: readBudget(values, 'monthly-budget-usd'),
    }
    return async (services) => {
      await raiseAccount(services, key)
      const outcome = await services.apiKeys.create(key, services.by)
      expectKind(key.accountId, outcome, 'created')
      return { output: { keyId: outcome.keyId, key: outcome.key } }
    }
  },
}

/** If an operator makes a key with higher limits than its account, raises the account's limits to the key's. */
async function raiseAccount({ database, ledger, accounts, defaultLimits, by }: Services, key: NewKey): Promise<void> {
  const account = await accounts.find(key.accountId)
  if (!account) return
  const limits = limitsAbove(key, ceilingsOf(account, defaultLimits))
  if (Object.keys(limits).length === 0) return
  const reason = `for the key ${key.name}`
  await changeAccountLimits(database, ledger, { accountId: key.accountId, limits, reason, by })
}

export const ADDRESSES_COMMAND: Command = {
  words: 'account addresses',
  help: 'sets the addresses from which all keys of an account may be used',
  options: { account: required('ID', 'the account'), allow: ALLOW },
  prepare(values) {
    const accountId = readText(values, 'account')
    const addresses = readNetworks(values)
    return async ({ database, ledger, by }) => {
      const kind = await changeAccountAddresses(database, ledger, { accountId, addresses, by })
      expectKind(accountId, { kind }, 'updated')
      return { output: { accountId, allowedAddresses: addresses } }
    }
  },
}

/** The items of a list option; null if its text is `none`. */
function readItems(values: Values, option: string, none: string): string[] | null {
  const text = readText(values, option, MAX_LIST_CHARS)
  return text === none ? null : text.split(',')
}

function readNetworks(values: Values): string[] | null {
  const { most } = KEY_FIELDS.allowedAddresses.items
  const items = readItems(values, 'allow', 'everywhere')
  const networks = items?.map((item) => parseNetwork(item) ?? fail(`--allow: '${item}' is no address or network`))
  if (networks && networks.length > most) fail(`--allow takes at most ${most} addresses and networks`)
  return networks ? [...new Set(networks)] : null
}

function readTagList(values: Values): string[] | null {
  const { most } = KEY_FIELDS.tags.items
  const items = readItems(values, 'set', 'none')
  const tags = items?.map((item) => readTag(item) ?? fail(`--set: '${item}' is no tag such as team=search`))
  if (tags && tags.length > most) fail(`--set takes at most ${most} tags`)
  if (new Set(tags?.map(tagName)).size < (tags?.length ?? 0)) fail('--set takes each name once')
  return tags?.toSorted() ?? null
}
