/** Everything that pages and commands do with the members of an account, as one dependency. */
import type { Database } from '@/db/client'
import { activeKeysOfMember, changeRole, listMembers, removeMember } from './change-members'
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
  }
}

export type Members = ReturnType<typeof createMembers>
