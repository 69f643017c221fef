/** Shared by routes of members and invitations: role schemas, and messages of refusals. */
import type { AnswerRefusal } from '@/accounts/members/answer-invitation'
import type { MemberRefusal } from '@/accounts/members/change-members'
import type { InvitationRefusal } from '@/accounts/members/invitations'
import { GatewayError } from '@/chat/error'
import { notVerified } from '@/console/auth/failure'
import { notPermitted } from '@/console/http/guard'
import { ACCOUNT_ROLES } from '@/db/auth-schema'
import { oneOf } from '@/lib/schemas'

export const Role = oneOf(ACCOUNT_ROLES)

/** The error for a refusal. */
export function refusalOf(refusal: MemberRefusal | InvitationRefusal | AnswerRefusal): GatewayError {
  switch (refusal.kind) {
    case 'not_organisation':
      return conflict('not_organisation', 'Make the account an organisation first.')
    case 'unknown_member':
      return new GatewayError('not_found', 'There is no such member.', { code: 'member_not_found' })
    case 'unknown_invitation':
      return new GatewayError('not_found', 'There is no such open invitation.', { code: 'invitation_not_found' })
    case 'last_owner':
      return conflict('last_owner', 'An organisation has an owner: make somebody else one first.')
    case 'not_permitted':
      return notPermitted()
    case 'own_promotion':
      return notPermitted('Nobody gives themselves another role but a lower one.', 'role')
    case 'already_member':
      return conflict('already_member', 'This person is a member already.')
    case 'too_many_owned':
      return conflict('too_many_owned', `A person is owner of at most ${refusal.limit} accounts.`)
    case 'too_many_members':
      return conflict('too_many_members', `An account has at most ${refusal.limit} members.`)
    case 'too_many_pending':
      return conflict('too_many_invitations', `At most ${refusal.limit} invitations are open at once. Revoke some.`)
    case 'too_many_a_day':
      return conflict('too_many_invitations', `At most ${refusal.limit} invitations are sent in 24 hours.`)
    case 'has_keys':
      return conflict(
        'member_has_keys',
        `${refusal.activeKeys} keys of this member are active: transfer or deactivate them first.`,
      )
    case 'not_verified':
      return notVerified()
    case 'invalid':
      return new GatewayError('gone', 'This invitation is not valid, or no longer. Ask for a new one.', {
        code: 'invitation_invalid',
      })
  }
}

function conflict(code: string, message: string): GatewayError {
  return new GatewayError('conflict', message, { code })
}
