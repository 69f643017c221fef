/** An account that several people share, with something of everything on its pages, and names as long as they get. */
import type { TestGateway } from '@test/support/gateway'
import type { Person } from '@test/support/person'
import type { AccountRole } from '@/db/auth-schema'
import { assert } from '@/lib/assert'
import { setAlertAddresses } from '@/people/alerts/addresses'
import { invite } from '@/people/members/invitations'

type Team = {
  company: string
  /** All that keys may call. */
  models: string[]
  /** Who shares the account, and in which role. */
  others: readonly (readonly [Person, AccountRole])[]
  /** A key of the owner's: it gets a budget, and another text. */
  keyId: string
}

/** Somebody who has no account yet. */
const INVITED = 'accounts-payable-and-receivable-department@subsidiary.analytical-engines.example'
const SCOPES = ['keys:write', 'budgets:write', 'members:read', 'usage:read', 'billing:read', 'audit:read']

/** Makes the owner's account one that is shared. Returns what the link of an invitation to it ends in. */
export async function makeTeam(gateway: TestGateway, owner: Person, team: Team): Promise<string> {
  const { accountId, userId, email } = owner.viewer
  const company = { name: team.company, country: 'GB', vatId: 'GB 123 4567 89' }
  await change(owner, 'POST', 'organisation', company)
  for (const [{ viewer }, role] of team.others) {
    await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
      VALUES (${accountId}, ${viewer.userId}, ${role})`
  }
  await setBudgets(owner, team)
  await makeKeys(owner, team.keyId)
  await change(owner, 'PUT', 'allowed-addresses', { allowedAddresses: ['127.0.0.0/8', '2001:db8:85a3::8a2e:370:7334'] })
  await change(owner, 'PUT', 'key-policy', {
    ...{ allowedModels: team.models, allowedProviders: ['provider1'], maxKeyAgeDays: 365 },
  })
  await change(owner, 'PATCH', 'alerts', { firstUsd: '25', secondUsd: '5' })
  const by = { actor: { userId, email } }
  await setAlertAddresses(gateway.gateway.database, { accountId, by }, [INVITED])
  const sent = await invite(gateway.gateway.database, { accountId, by }, { email: INVITED, role: 'billing' })
  assert(sent.kind === 'sent', `no invitation: ${sent.kind}`)
  return sent.invitation.token
}

async function change(owner: Person, method: string, path: string, body: object): Promise<void> {
  const answer = await owner.json(method, `/dashboard/api/a/:accountId/${path}`, body)
  assert(answer.status === 200, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
}

/** Of the account, a member, a key and whoever joins. */
async function setBudgets(owner: Person, { others, keyId }: Team): Promise<void> {
  const { accountId } = owner.viewer
  const set = (scope: string, limits: object) => change(owner, 'PUT', `budgets/${scope}`, limits)
  await set(`account/${accountId}`, { dayUsd: '50', weekUsd: '200', monthUsd: '500', totalUsd: '12345.67' })
  for (const [{ viewer }] of others.slice(0, 1)) await set(`member/${viewer.userId}`, { dayUsd: '5', weekUsd: '20' })
  await set(`key/${keyId}`, { dayUsd: '2' })
  await set(`new_member/${accountId}`, { monthUsd: '25' })
  await change(owner, 'POST', `budgets/account/${accountId}/grant`, { window: 'day', usd: '12.5' })
}

/** One of the account itself, two by which programs manage it, and another text for the one that is there. */
async function makeKeys(owner: Person, keyId: string): Promise<void> {
  const service = {
    ...{ name: 'The continuous integration of the backend', isService: true, monthlyBudgetUsd: '40' },
    ...{ tags: ['team=search', 'env=prod'], allowedModels: ['svc/alpha'], allowedProviders: ['provider1'] },
    ...{ allowedAddresses: ['203.0.113.0/24', '2001:db8::/32'], withoutMyAddress: true },
  }
  await change(owner, 'POST', 'keys', service)
  await change(owner, 'POST', 'management-keys', {
    name: 'terraform',
    scopes: SCOPES,
    expiresAt: '2999-12-31T23:59:59Z',
  })
  await change(owner, 'POST', 'management-keys', { name: `nightly-${'x'.repeat(60)}`, scopes: [] })
  await change(owner, 'POST', `keys/${keyId}/rotate`, { overlap: '7d' })
}
