/** Operator commands for API keys: create, deactivate, activate, delete. */
import type { ApiKeys, ChangeKeyOutcome } from '@/accounts/api-keys'
import { type Command, optional, required } from './command'
import { fail } from './failure'
import { readOptionalBudget, readOptionalCount, readText } from './values'

const MAX_REQUESTS = 1_000_000
const MAX_TOKENS = 1_000_000_000
const MAX_CONCURRENCY = 100_000

export const KEY_COMMANDS: readonly Command[] = [
  {
    words: 'key create',
    help: 'creates an API key and shows it, for the only time',
    options: {
      account: required('ID', 'the account that pays'),
      name: required('N', 'to tell keys apart'),
      'requests-per-minute': optional('n', "otherwise the catalogue's"),
      'tokens-per-minute': optional('n', "otherwise the catalogue's"),
      concurrency: optional('n', "requests at once; otherwise the catalogue's"),
      'monthly-budget-usd': optional('USD', 'per calendar month (UTC); otherwise none'),
    },
    prepare(values) {
      const key = {
        accountId: readText(values, 'account'),
        name: readText(values, 'name'),
        requestsPerMinute: readOptionalCount(values, 'requests-per-minute', MAX_REQUESTS),
        tokensPerMinute: readOptionalCount(values, 'tokens-per-minute', MAX_TOKENS),
        concurrency: readOptionalCount(values, 'concurrency', MAX_CONCURRENCY),
        monthlyBudget: readOptionalBudget(values, 'monthly-budget-usd'),
      }
      return async ({ apiKeys }) => {
        const outcome = await apiKeys.create(key)
        if (outcome.kind === 'unknown_account') fail(`no account ${key.accountId}`)
        if (outcome.kind === 'too_many_keys') fail(`the account has ${outcome.limit} keys already`)
        return { output: { keyId: outcome.keyId, key: outcome.key } }
      }
    },
  },
  changeCommand('deactivate', 'refuses a key on all gateways at once', (apiKeys, keyId) => apiKeys.deactivate(keyId)),
  changeCommand('activate', 'accepts a deactivated key again', (apiKeys, keyId) => apiKeys.activate(keyId)),
  changeCommand('delete', 'refuses a key for ever', (apiKeys, keyId) => apiKeys.delete(keyId)),
]

type Change = (apiKeys: ApiKeys, keyId: string) => Promise<ChangeKeyOutcome>

function changeCommand(verb: string, help: string, change: Change): Command {
  return {
    words: `key ${verb}`,
    help,
    options: { key: required('ID', "the key's id, not the key itself") },
    prepare(values) {
      const keyId = readText(values, 'key')
      return async ({ apiKeys }) => {
        const outcome = await change(apiKeys, keyId)
        if (outcome.kind === 'unknown_key') fail('there is no key of that id')
        if (outcome.kind === 'deleted') fail(`the key ${keyId} was deleted`)
        if (outcome.kind === 'built_in') fail(`the key ${keyId} belongs to the service and stays`)
        return { output: { keyId, status: outcome.status } }
      }
    },
  }
}
