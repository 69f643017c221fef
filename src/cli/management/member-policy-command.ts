/** The operator command for what holds for the members of an account beyond their roles. */
import { changeMemberPolicy, readMemberPolicy } from '@/accounts/policies/member-policy'
import { type Command, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { readText } from '@/cli/values'

export const MEMBER_POLICY_COMMANDS: readonly Command[] = [
  {
    words: 'account member-policy',
    help: 'says whether developers of an account see the usage of all its keys; shows it then',
    options: {
      account: required('ID', 'the account'),
      'developers-see-all-usage': optional('yes|no', 'left out, it stays'),
    },
    prepare(values) {
      const accountId = readText(values, 'account')
      const developersSeeAllUsage = readChoice(values)
      return async ({ database, by }) => {
        if (developersSeeAllUsage !== undefined) {
          await changeMemberPolicy(database, { accountId, policy: { developersSeeAllUsage }, by })
        }
        const found = await readMemberPolicy(database, accountId)
        if (!found) fail(`no account ${accountId}`)
        return { output: { accountId, ...found } }
      }
    },
  },
]

function readChoice({ 'developers-see-all-usage': text }: Values): boolean | undefined {
  if (text === undefined) return undefined
  return text === 'yes' || text === 'no' ? text === 'yes' : fail('--developers-see-all-usage must be yes or no')
}
