/** Operator commands for API keys: what makes them, changes them and ends them. */

import { ceilingsOf, changeAccountLimits, limitsAbove } from '@/accounts/account-limits'
import { changeAccountAddresses, MAX_ADDRESSES } from '@/accounts/addresses/addresses'
import type { ApiKeys, ChangedBy, ChangeKeyOutcome, NewKey } from '@/accounts/api-keys'
import { listMembers } from '@/accounts/members/change-members'
import { DEFAULT_OVERLAP, parseOverlap } from '@/accounts/rotation/rotate-key'
import { parseNetwork } from '@/lib/networks'
import { MAX_TAGS, readTag, tagName } from '@/usage/tags'
import { type Command, optional, required, type Values } from './command'
import { fail } from './failure'
import { lookUpKey } from './key-lookups'
import type { Services } from './services'
import { MAX_LIMITS, readBudget, readEmail, readOptionalCount, readText } from './values'

const ALLOW = required('LIST', 'addresses and networks such as 203.0.113.0/24,2001:db8::/32, or everywhere')

/** Fifty networks of IPv6, and more than eight tags. */
const MAX_LIST_CHARS = 3_000

/** Null for everywhere. */
function readNetworks(values: Values): string[] | null {
  const text = readText(values, 'allow', MAX_LIST_CHARS)
  if (text === 'everywhere') return null
  const networks = text
    .split(',')
    .map((item) => parseNetwork(item) ?? fail(`--allow: '${item}' is no address or network`))
  if (networks.length > MAX_ADDRESSES) fail(`--allow takes at most ${MAX_ADDRESSES} addresses and networks`)
  return [...new Set(networks)]
}

/** Null for none. */
function readTagList(values: Values): string[] | null {
  const text = readText(values, 'set', MAX_LIST_CHARS)
  if (text === 'none') return null
  const tags = text.split(',').map((item) => readTag(item) ?? fail(`--set: '${item}' is no tag such as team=search`))
  if (tags.length > MAX_TAGS) fail(`--set takes at most ${MAX_TAGS} tags`)
  if (new Set(tags.map(tagName)).size < tags.length) fail('--set takes each name once')
  return tags.toSorted()
}

async function transferKey({ database, apiKeys, by }: Services, keyId: string, email: string) {
  const { accountId } = await lookUpKey(database, keyId)
  const members = await listMembers(database, accountId)
  const member = members.find((one) => one.email.toLowerCase() === email.toLowerCase())
  if (!member) fail(`${email} is no member of the account ${accountId}`)
  const outcome = await apiKeys.transfer(keyId, accountId, member.userId, by)
  if (outcome.kind === 'no_owner') fail(`the role of ${email} in the account allows no keys`)
  if (outcome.kind !== 'updated') failUnchanged(keyId, outcome)
  return { keyId, accountId, userId: member.userId, status: outcome.status }
}

export const KEY_COMMANDS: readonly Command[] = [
  {
    words: 'key create',
    help: 'creates an API key of the account, of no member, and shows it, for the only time',
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
        if (outcome.kind === 'unknown_account') fail(`no account ${key.accountId}`)
        if (outcome.kind === 'no_owner') fail('the role of the member allows no keys')
        if (outcome.kind === 'too_many_keys') fail(`the account has ${outcome.limit} keys already`)
        return { output: { keyId: outcome.keyId, key: outcome.key } }
      }
    },
  },
  {
    words: 'key rotate',
    help: 'gives a key another text and shows it, for the only time; the one before works for a while',
    options: {
      key: required('ID', "the key's id, not the key itself"),
      overlap: optional(
        'TIME',
        `how long the text before works: 0, or such as 30m, 24h, 7d; ${DEFAULT_OVERLAP} by default`,
      ),
    },
    prepare(values) {
      const keyId = readText(values, 'key')
      const overlapMs = parseOverlap(values.overlap === undefined ? DEFAULT_OVERLAP : readText(values, 'overlap'))
      if (overlapMs === undefined)
        fail('--overlap must be 0, or a number with s, m, h or d such as 24h, and at most 30d')
      return async ({ apiKeys, by }) => {
        const outcome = await apiKeys.rotate(keyId, overlapMs, undefined, by)
        if (outcome.kind !== 'rotated') failUnchanged(keyId, outcome)
        return { output: { keyId, key: outcome.key, formerEndsAt: outcome.formerEndsAt } }
      }
    },
  },
  {
    words: 'key addresses',
    help: 'says from where a key may be used, of those addresses that its account allows',
    options: { key: required('ID', "the key's id, not the key itself"), allow: ALLOW },
    prepare(values) {
      const keyId = readText(values, 'key')
      const allowedAddresses = readNetworks(values)
      return async ({ apiKeys, by }) => {
        const outcome = await apiKeys.change(keyId, { allowedAddresses }, undefined, by)
        if (outcome.kind !== 'updated') failUnchanged(keyId, outcome)
        return { output: { keyId, allowedAddresses } }
      }
    },
  },
  {
    words: 'key tags',
    help: 'sorts all usage of a key by tags, which win over those that its requests say',
    options: {
      key: required('ID', "the key's id, not the key itself"),
      set: required('LIST', `at most ${MAX_TAGS} such as team=search,env=prod, or none`),
    },
    prepare(values) {
      const keyId = readText(values, 'key')
      const tags = readTagList(values)
      return async ({ apiKeys, by }) => {
        const outcome = await apiKeys.change(keyId, { tags }, undefined, by)
        if (outcome.kind !== 'updated') failUnchanged(keyId, outcome)
        return { output: { keyId, tags } }
      }
    },
  },
  {
    words: 'key transfer',
    help: 'makes a key that of another member; what runs ends as it began',
    options: {
      key: required('ID', "the key's id, not the key itself"),
      email: required('E', 'of a member whose role allows keys'),
    },
    prepare(values) {
      const keyId = readText(values, 'key')
      const email = readEmail(values, 'email')
      return async (services) => ({ output: await transferKey(services, keyId, email) })
    },
  },
  {
    words: 'account addresses',
    help: 'says from where all keys of an account may be used',
    options: { account: required('ID', 'the account'), allow: ALLOW },
    prepare(values) {
      const accountId = readText(values, 'account')
      const addresses = readNetworks(values)
      return async ({ database, ledger, by }) => {
        const outcome = await changeAccountAddresses(database, ledger, { accountId, addresses, by })
        if (outcome === 'unknown_account') fail(`no account ${accountId}`)
        return { output: { accountId, allowedAddresses: addresses } }
      }
    },
  },
  changeCommand('deactivate', 'refuses a key on all gateways at once', (apiKeys, keyId, by) =>
    apiKeys.deactivate(keyId, undefined, by),
  ),
  changeCommand('activate', 'accepts a deactivated key again', (apiKeys, keyId, by) =>
    apiKeys.activate(keyId, undefined, by),
  ),
  changeCommand('delete', 'refuses a key for ever', (apiKeys, keyId, by) => apiKeys.delete(keyId, undefined, by)),
]

/** An operator's key gets the given limits. If its account has lower ones, the account is raised to them. */
async function raiseAccount({ database, ledger, accounts, defaultLimits, by }: Services, key: NewKey): Promise<void> {
  const account = await accounts.find(key.accountId)
  if (!account) return
  const limits = limitsAbove(key, ceilingsOf(account, defaultLimits))
  if (Object.keys(limits).length === 0) return
  const reason = `for the key ${key.name}`
  await changeAccountLimits(database, ledger, { accountId: key.accountId, limits, reason, by })
}

function failUnchanged(keyId: string, { kind }: Exclude<ChangeKeyOutcome, { kind: 'updated' }>): never {
  if (kind === 'unknown_key') fail('there is no key of that id')
  if (kind === 'deleted') fail(`the key ${keyId} was deleted`)
  if (kind === 'no_owner') fail('whose key it is, is a member of the account no longer: see key transfer')
  return fail(`the key ${keyId} belongs to the service and stays`)
}

type Change = (apiKeys: ApiKeys, keyId: string, by: ChangedBy) => Promise<ChangeKeyOutcome>

function changeCommand(verb: string, help: string, change: Change): Command {
  return {
    words: `key ${verb}`,
    help,
    options: { key: required('ID', "the key's id, not the key itself") },
    prepare(values) {
      const keyId = readText(values, 'key')
      return async ({ apiKeys, by }) => {
        const outcome = await change(apiKeys, keyId, by)
        if (outcome.kind !== 'updated') failUnchanged(keyId, outcome)
        return { output: { keyId, status: outcome.status } }
      }
    },
  }
}
