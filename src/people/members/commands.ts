/** The operator's commands for organisations: convert an account, list and change members, roles and the rules of their keys. */
import {
  changeKeyPolicy,
  changeMemberKeyPolicy,
  readKeyPolicy,
  readMemberKeyPolicy,
} from '@/accounts/policies/key-policy'
import { type Command, type CommandResult, optional, required, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import type { Services } from '@/cli/services'
import { readChoice, readEmail, readText } from '@/cli/values'
import { ACCOUNT_ROLES } from '@/db/auth-schema'
import { isCountry } from '@/lib/countries'
import { MAX_KEY_AGE_DAYS } from '@/people/keys/fields'
import { RULE_OPTIONS, readRules } from '@/people/keys/rule-options'
import { addMember, findByEmail, listMembers, type MemberRefusal } from './change-members'
import type { Credential } from './credentials'
import { createMembers } from './members'
import { makeOrganisation } from './organisation'
import { refusalOf } from './refusals'

const ACCOUNT = required('ID', 'the account')
const NONE = 'none'

export const ORGANISATION_COMMAND: Command = {
  words: 'account organisation',
  help: 'turns a personal account into an organisation, permanently; balance, keys and history stay',
  options: {
    account: ACCOUNT,
    name: required('N', 'the company, and how the account is called from then on'),
    country: required('CC', 'two letters, ISO 3166-1'),
    'vat-id': optional('V', 'as it stands on invoices'),
  },
  prepare(values) {
    const accountId = readText(values, 'account')
    const country = readText(values, 'country')
    if (!isCountry(country)) fail('--country must be the two capital letters of a country (ISO 3166-1), e.g. DE')
    const vatId = values['vat-id'] === undefined ? null : readText(values, 'vat-id')
    const company = { name: readText(values, 'name'), country, vatId }
    return async ({ database, by }) => {
      const { kind } = await makeOrganisation(database, accountId, company, by)
      if (kind === 'unknown_account') fail(`no account ${accountId}`)
      if (kind === 'organisation_already') fail(refusalOf({ kind }).command(accountId))
      return { output: { accountId, kind: 'organisation', ...company } }
    }
  },
}

export const LIST_COMMAND: Command = {
  words: 'account members',
  help: 'lists the members of an account, owners first',
  options: { account: ACCOUNT },
  prepare(values) {
    const accountId = readText(values, 'account')
    return async (services) => listed(services, accountId)
  },
}

export const SET_COMMAND: Command = {
  words: 'account set-member',
  help: 'adds a member of an organisation, changes their role, or removes them; then lists the members',
  options: {
    account: ACCOUNT,
    email: required('E', 'of a user'),
    role: required([...ACCOUNT_ROLES, NONE].join('|'), 'none = no member any more'),
    credentials: optional(
      'revoke|keep',
      'what becomes of keys that they made and may hold no longer; left out, revoke',
    ),
  },
  prepare(values) {
    const accountId = readText(values, 'account')
    const email = readEmail(values, 'email')
    const role = readChoice(values, 'role', [...ACCOUNT_ROLES, NONE])
    const fate = readChoice(values, 'credentials', ['revoke', 'keep']) ?? 'revoke'
    return async (services) => {
      const { database, apiKeys, by } = services
      const members = createMembers(database, apiKeys)
      const userId = (await findByEmail(database, accountId, email))?.userId
      const change = { accountId, userId: userId ?? '', by }
      let revoked: Credential[] = []
      if (role !== undefined && role !== NONE) {
        if (userId === undefined) expectDone(await addMember(database, { accountId, email, role, by }), email)
        else revoked = expectDone(await members.changeRole(change, role, fate), email).revoked
      } else if (userId !== undefined) revoked = expectDone(await members.remove(change, fate), email).revoked
      const { output } = await listed(services, accountId)
      return { output: { ...output, revoked: revoked.map(({ kind, id, name }) => ({ kind, id, name })) } }
    }
  },
}

async function listed({ database, accounts }: Services, accountId: string): Promise<CommandResult> {
  if (!(await accounts.find(accountId))) fail(`no account ${accountId}`)
  const members = await listMembers(database, accountId)
  return {
    output: {
      accountId,
      members: members.map(({ createdAt, ...rest }) => ({ ...rest, since: createdAt.toISOString() })),
    },
  }
}

function expectDone<Done extends { kind: 'done' }>(
  outcome: Done | { kind: 'unknown_user' } | MemberRefusal,
  email: string,
): Done {
  if (outcome.kind === 'done') return outcome as Done
  if (outcome.kind === 'unknown_user') fail(`no user has the address ${email}`)
  return fail(refusalOf(outcome as MemberRefusal).command(email))
}

export const POLICY_COMMAND: Command = {
  words: 'account key-policy',
  help: 'sets the rules for all keys of an account or a member: models, providers, where content may go, and the maximum age of keys; then shows them',
  options: {
    account: required('ID', 'the account'),
    email: optional('E', 'of a member: of their keys alone, beside what holds for all'),
    ...RULE_OPTIONS,
    'max-age-days': optional('n', `since a key was made or last rotated, or ${NONE}; left out, it stays`),
  },
  prepare(values) {
    const accountId = readText(values, 'account')
    const email = values.email === undefined ? undefined : readEmail(values, 'email')
    const maxKeyAgeDays = readDays(values)
    const rulesIn = readRules(values)
    if (email !== undefined && maxKeyAgeDays !== undefined) fail('--max-age-days is of all keys: without --email')
    return async (services) => {
      const { database, ledger, catalog, by } = services
      const rules = rulesIn(catalog)
      if (email !== undefined) {
        const member = await findByEmail(database, accountId, email)
        const of = {
          accountId,
          userId: member?.userId ?? fail(`no member of account ${accountId} has the address ${email}`),
        }
        if (Object.keys(rules).length > 0) await changeMemberKeyPolicy(database, ledger, { ...of, policy: rules, by })
        const ofMember = await readMemberKeyPolicy(database, of)
        return { output: { ...of, email, ...ofMember } }
      }
      const policy = { ...rules, ...(maxKeyAgeDays !== undefined && { maxKeyAgeDays }) }
      if (Object.keys(policy).length > 0) await changeKeyPolicy(database, ledger, { accountId, policy, by })
      const found = await readKeyPolicy(database, accountId)
      if (!found) fail(`no account ${accountId}`)
      return { output: { accountId, ...found } }
    }
  },
}

function readDays(values: Values): number | null | undefined {
  const text = values['max-age-days']
  if (text === undefined) return undefined
  if (text === NONE) return null
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0
  return days >= 1 && days <= MAX_KEY_AGE_DAYS
    ? days
    : fail(`--max-age-days must be an integer from 1 to ${MAX_KEY_AGE_DAYS}, or ${NONE}`)
}
