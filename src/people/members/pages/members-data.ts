/** Queries and changes of the members page. */
import { useQuery } from '@tanstack/react-query'
import { allPages, askAgain } from '@/dashboard/query'
import { VIEWER_KEY } from '@/dashboard/session'
import { perform, type ResultOf } from '@/people/client'
import type { ChosenSettings } from '@/people/settings/fields'

export type MemberItem = ResultOf<'GET /members'>['items'][number]
export type AccountRole = MemberItem['role']

const MEMBERS_KEY = ['members'] as const

/** The account's members and kind. */
export function useMembers() {
  return useQuery({
    queryKey: MEMBERS_KEY,
    queryFn: () => allPages((query) => perform('GET /members', query)),
  })
}

const SETTINGS_KEY = ['member-policy'] as const

/** The account's settings for all members. */
export function useSettings() {
  return useQuery({ queryKey: SETTINGS_KEY, queryFn: () => perform('GET /member-policy', {}) })
}

/** Changes the account's settings for members. */
export async function changeSettings(chosen: ChosenSettings): Promise<void> {
  await perform('PUT /member-policy', chosen)
  await askAgain({ queryKey: SETTINGS_KEY })
}

export type Credential = Awaited<ReturnType<typeof credentialsOf>>[number]
/** Whether credentials that a member may no longer have are revoked or kept. */
export type Fate = 'revoke' | 'keep'

/** A member's credentials that work without a session. */
export async function credentialsOf({ userId }: MemberItem) {
  return (await perform('GET /members/:userId/credentials', { userId })).items
}

/** Changes a member's role. */
export async function giveRole({ userId }: MemberItem, role: AccountRole, credentials: Fate): Promise<void> {
  await perform('PATCH /members/:userId', { userId, role, credentials })
  await membersChanged()
}

/** Ends a membership; the member's API keys are always deactivated. */
export async function removeMember({ userId }: MemberItem, credentials: Fate): Promise<void> {
  await perform('DELETE /members/:userId', { userId, credentials })
}

/** Turns the account into an organisation. */
export async function makeOrganisation(company: { name: string; country: string; vatId?: string }): Promise<void> {
  await perform('POST /organisation', company)
  await membersChanged()
}

/** Changes the organisation's legal data. */
export async function changeCompany(company: { name: string; country: string; vatId?: string }): Promise<void> {
  await perform('PUT /organisation', company)
  await membersChanged()
}

/** Reloads members and viewer: the menu shows the account's name, and permissions depend on the role. */
export async function membersChanged(): Promise<void> {
  await Promise.all([askAgain({ queryKey: MEMBERS_KEY }), askAgain({ queryKey: VIEWER_KEY })])
}

export type InvitationItem = ResultOf<'GET /invitations'>['items'][number]

const INVITATIONS_KEY = ['invitations'] as const

/** Unanswered invitations. */
export function useInvitations() {
  return useQuery({
    queryKey: INVITATIONS_KEY,
    queryFn: () => allPages((query) => perform('GET /invitations', query)),
  })
}

/** Sends an invitation by mail. */
export async function invite(email: string, role: AccountRole): Promise<void> {
  await perform('POST /invitations', { email, role })
  await invitationsChanged()
}

/** Sends an invitation again with a new link. */
export async function resend({ invitationId }: InvitationItem): Promise<void> {
  await perform('POST /invitations/:invitationId/resend', { invitationId })
  await invitationsChanged()
}

/** Revokes an invitation. */
export async function revoke({ invitationId }: InvitationItem): Promise<void> {
  await perform('POST /invitations/:invitationId/revoke', { invitationId })
  await invitationsChanged()
}

function invitationsChanged(): Promise<void> {
  return askAgain({ queryKey: INVITATIONS_KEY })
}
