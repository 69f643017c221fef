/** The operations on an account's settings, which hold for its members. */
import { Type } from '@sinclair/typebox'
import type { ChangedBy } from '@/accounts/audit'
import { changeAccountSettings, readAccountSettings } from '@/accounts/policies/account-settings'
import { type Command, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { readText } from '@/cli/values'
import type { GuardDeps } from '@/console/http/guard'
import { exactly } from '@/console/http/wire'
import { refused } from '@/people/keys/refusals'
import { operationsOver } from '@/people/operation'
import { expectVersion } from '@/people/version'
import { type ChosenSettings, SETTING_ROWS, type Settings } from './fields'

/** The services that operations on settings use. */
export type SettingDeps = GuardDeps & {
  readAccountSettings(accountId: string): Promise<Settings | undefined>
  changeAccountSettings(
    accountId: string,
    chosen: ChosenSettings,
    by: ChangedBy,
    check: (before: Settings) => void,
  ): Promise<unknown>
}

const operation = operationsOver<SettingDeps>()

const FLAGS = SETTING_ROWS.map(({ name, words }) => [name, Type.Boolean({ description: words })] as const)
type Flags = Record<keyof Settings, ReturnType<typeof Type.Boolean>>
const SettingsBody = Type.Object(Object.fromEntries(FLAGS) as Flags)

const show = operation('account.member_policy.show', 'GET /member-policy', 'members.read', 'members:read', {
  summary: 'Get the rules for members',
  description: 'Beyond what their roles allow.',
  gives: SettingsBody,
  versioned: (given) => given,
  run: ({ deps, viewer }) => shown(deps, viewer.accountId),
})

const change = operation('account.member_policy', 'PUT /member-policy', 'members.change', 'members:write', {
  summary: 'Set the rules for members',
  description: 'What is left out stays. From the next request of each on, and for reports by keys of theirs.',
  takes: exactly(Type.Partial(SettingsBody).properties, { minProperties: 1 }),
  gives: SettingsBody,
  versioned: (given) => given,
  commands: [
    {
      words: 'account member-policy',
      help: 'says what holds for members of an account; shows it then',
      options: {
        account: required('ID', 'the account'),
        ...Object.fromEntries(
          SETTING_ROWS.map(({ name, words }) => [
            optionOf(name),
            optional('yes|no', `${words.toLowerCase()}; left out, it stays`),
          ]),
        ),
      },
      prepare(values) {
        const [accountId, chosen] = [readText(values, 'account'), readChosen(values)]
        return async ({ database, by }) => {
          await changeAccountSettings(database, { accountId, chosen, by })
          const settings = await readAccountSettings(database, accountId)
          return { output: { accountId, ...(settings ?? fail(`no account ${accountId}`)) } }
        }
      },
    } satisfies Command,
  ],
  async run({ deps, viewer: { accountId }, by, request }, chosen) {
    await deps.changeAccountSettings(accountId, chosen, by, (before) => expectVersion(request, before))
    return await shown(deps, accountId)
  },
})

export const SETTING_OPERATIONS = [show, change] as const

async function shown({ readAccountSettings }: SettingDeps, accountId: string): Promise<Settings> {
  const settings = await readAccountSettings(accountId)
  if (!settings) throw refused('unknown_account')
  return settings
}

/** `developers-see-all-usage` for `developersSeeAllUsage`. */
function optionOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function readChosen(values: Values): ChosenSettings {
  const chosen: ChosenSettings = {}
  for (const { name } of SETTING_ROWS) {
    const text = values[optionOf(name)]
    if (text === undefined) continue
    if (text !== 'yes' && text !== 'no') fail(`--${optionOf(name)} must be yes or no`)
    chosen[name] = text === 'yes'
  }
  return chosen
}
