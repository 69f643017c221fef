/** All member functions that pages and commands use, as one dependency. */
import type { AccountRole } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import { acceptInvitation, declineInvitation, readInvitation } from './answer-invitation'
import { changeRole, listMembers, type MemberChange, type MemberOutcome, removeMember } from './change-members'
import { type Credential, credentialsOf, endingKeys, type Fate, type KeyEnd } from './credentials'
import { invite, listInvitations, resendInvitation, revokeInvitation } from './invitations'
import { changeCompany, findKind, makeOrganisation } from './organisation'

export function createMembers(database: Database, keys: KeyEnd) {
  return {
    list: (accountId: string) => listMembers(database, accountId),
    findKind: (accountId: string) => findKind(database, accountId),
    /** The member's credentials that work without a session. */
    credentials: (accountId: string, userId: string) => credentialsOf(database.db, accountId, userId),
    /** Changes a member's role. API keys that the new role may not have are deactivated first. */
    changeRole: async (change: MemberChange, role: AccountRole, fate: Fate) =>
      withKeys(await endingKeys(database, keys, change, () => changeRole(database, change, role, fate))),
    /** Removes a member. All API keys of the member are deactivated first. */
    remove: async (change: MemberChange, fate: Fate) =>
      withKeys(await endingKeys(database, keys, change, () => removeMember(database, change, fate))),
    makeOrganisation: makeOrganisation.bind(null, database),
    changeCompany: changeCompany.bind(null, database),
    invitations: {
      list: (accountId: string) => listInvitations(database, accountId),
      send: invite.bind(null, database),
      resend: resendInvitation.bind(null, database),
      revoke: revokeInvitation.bind(null, database),
      read: readInvitation.bind(null, database),
      accept: acceptInvitation.bind(null, database),
      decline: declineInvitation.bind(null, database),
    },
  }
}

export type Members = ReturnType<typeof createMembers>

function withKeys({ outcome, ended }: { outcome: MemberOutcome; ended: Credential[] }): MemberOutcome {
  return outcome.kind === 'done' ? { ...outcome, revoked: [...ended, ...outcome.revoked] } : outcome
}
