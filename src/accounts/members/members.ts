/** Everything that pages and commands do with the members of an account, as one dependency. */
import type { AccountRole } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import { acceptInvitation, declineInvitation, readInvitation } from './answer-invitation'
import { changeRole, listMembers, type MemberChange, type MemberOutcome, removeMember } from './change-members'
import { type Credential, credentialsOf, endingKeys, type Fate, type KeyEnd } from './credentials'
import { invite, listInvitations, resendInvitation, revokeInvitation } from './invitations'
import { changeCompany, findKind, makeOrganisation } from './organisation'

/** Members in `database`, whose keys end by `keys`. */
export function createMembers(database: Database, keys: KeyEnd) {
  return {
    list: (accountId: string) => listMembers(database, accountId),
    findKind: (accountId: string) => findKind(database, accountId),
    /** What they have made that works without them. */
    credentials: (accountId: string, userId: string) => credentialsOf(database.db, accountId, userId),
    /** Their API keys that the new role may not hold end before it. */
    changeRole: async (change: MemberChange, role: AccountRole, fate: Fate) =>
      withKeys(await endingKeys(database, keys, change, () => changeRole(database, change, role, fate))),
    /** Likewise, all of them. */
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
