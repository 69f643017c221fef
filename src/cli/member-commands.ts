/** Operator commands for organisations: convert an account, list and change members and roles. */
import { addMember, type ListedMember, listMembers, type MemberRefusal } from '@/accounts/members/change-members'
import type { Credential } from '@/accounts/members/credentials'
import { createMembers } from '@/accounts/members/members'
import { makeOrganisation } from '@/accounts/members/organisation'
import { ACCOUNT_ROLES } from '@/db/auth-schema'
import { isCountry } from '@/lib/countries'
import { type Command, type CommandResult, optional, required } from './command'
import { fail } from './failure'
import type { Services } from './services'
import { readChoice, readEmail, readText } from './values'

const ACCOUNT = required('ID', 'the account')
const NONE = 'none'

export const MEMBER_COMMANDS: readonly Command[] = [
  {
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
        if (kind === 'organisation_already') fail('the account is an organisation already')
        return { output: { accountId, kind: 'organisation', ...company } }
      }
    },
  },
  {
    words: 'account members',
    help: 'lists the members of an account, owners first',
    options: { account: ACCOUNT },
    prepare(values) {
      const accountId = readText(values, 'account')
      return async (services) => listed(services, accountId)
    },
  },
  {
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
        const userId = (await findMember(database, accountId, email))?.userId
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
  },
]

/** The account's member with this address, in any case. */
export async function findMember(
  database: Services['database'],
  accountId: string,
  email: string,
): Promise<ListedMember | undefined> {
  const lowered = email.toLowerCase()
  return (await listMembers(database, accountId)).find((one) => one.email.toLowerCase() === lowered)
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
  return outcome.kind === 'done' ? (outcome as Done) : fail(whyNot(outcome as MemberRefusal, email))
}

function whyNot(refusal: { kind: 'unknown_user' } | MemberRefusal, email: string): string {
  switch (refusal.kind) {
    case 'unknown_user':
      return `no user has the address ${email}`
    case 'not_organisation':
      return 'the account is no organisation: see account organisation'
    case 'last_owner':
      return 'an account keeps at least one owner'
    case 'has_keys':
      return `${refusal.activeKeys} keys of theirs are active: deactivate or transfer them first`
    case 'too_many_members':
      return `an account has at most ${refusal.limit} members`
    case 'too_many_owned':
      return `a person owns at most ${refusal.limit} accounts`
    case 'already_member':
    case 'unknown_member':
    case 'not_permitted':
    case 'own_promotion':
      return `the members were changed meanwhile (${refusal.kind}): try again`
  }
}
