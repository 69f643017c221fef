/** Everything that pages and commands do with the members of an account, as one dependency. */
import type { Database } from '@/db/client'
import { acceptInvitation, declineInvitation, readInvitation } from './answer-invitation'
import { activeKeysOfMember, changeRole, listMembers, removeMember } from './change-members'
import { invite, listInvitations, resendInvitation, revokeInvitation } from './invitations'
import { findKind, makeOrganisation } from './organisation'

/** Members in `database`. */
export function createMembers(database: Database) {
  return {
    list: (accountId: string) => listMembers(database, accountId),
    findKind: (accountId: string) => findKind(database, accountId),
    activeKeys: (accountId: string, userId: string) => activeKeysOfMember(database, accountId, userId),
    changeRole: changeRole.bind(null, database),
    remove: removeMember.bind(null, database),
    makeOrganisation: makeOrganisation.bind(null, database),
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
