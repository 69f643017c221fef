/** Refusals of operations on members and invitations, as errors of routes and of commands. */
import type { GatewayError } from '@/chat/error'
import { notVerified } from '@/console/auth/failure'
import { type Refusal, refusalError } from '@/people/operation'
import { MAX_MEMBERS, MAX_OWNED_ACCOUNTS } from './admission'
import type { AnswerRefusal } from './answer-invitation'
import type { MemberRefusal } from './change-members'
import { type InvitationRefusal, MAX_A_DAY, MAX_PENDING } from './invitations'

type Refused = MemberRefusal | InvitationRefusal | AnswerRefusal | { kind: 'organisation_already' }

/** The error of a route for a refused operation. */
export function refused(outcome: Refused): GatewayError {
  return outcome.kind === 'not_verified' ? notVerified() : refusalError(refusalOf(outcome))
}

/** The texts of a refusal. */
export function refusalOf(outcome: Exclude<Refused, { kind: 'not_verified' }>): Refusal {
  switch (outcome.kind) {
    case 'not_organisation':
      return conflict(
        outcome.kind,
        'Make the account an organisation first.',
        'the account is no organisation: see account organisation',
      )
    case 'organisation_already':
      return conflict(outcome.kind, 'The account is an organisation already.', 'the account is an organisation already')
    case 'last_owner':
      return conflict(
        outcome.kind,
        'An organisation has an owner: make somebody else one first.',
        'an account keeps at least one owner',
      )
    case 'too_many_members':
      return conflict(
        outcome.kind,
        `An account has at most ${MAX_MEMBERS} members.`,
        `an account has at most ${MAX_MEMBERS} members`,
      )
    case 'too_many_owned':
      return conflict(
        outcome.kind,
        `A person is owner of at most ${MAX_OWNED_ACCOUNTS} accounts.`,
        `a person owns at most ${MAX_OWNED_ACCOUNTS} accounts`,
      )
    case 'has_keys':
      return conflict(
        'member_has_keys',
        `${outcome.activeKeys} keys of this member are active: transfer or deactivate them first.`,
        `${outcome.activeKeys} keys of theirs are active: deactivate or transfer them first`,
      )
    case 'too_many_pending':
      return conflict('too_many_invitations', `At most ${MAX_PENDING} invitations are open at once. Revoke some.`)
    case 'too_many_a_day':
      return conflict('too_many_invitations', `At most ${MAX_A_DAY} invitations are sent in 24 hours.`)
    case 'already_member':
      return conflict(outcome.kind, 'This person is a member already.', meanwhile(outcome.kind))
    case 'unknown_member':
      return refusal('not_found', 'member_not_found', 'There is no such member.', meanwhile(outcome.kind))
    case 'unknown_invitation':
      return refusal('not_found', 'invitation_not_found', 'There is no such open invitation.')
    case 'not_permitted': {
      const message = 'Your role in this account does not allow this.'
      return refusal('forbidden', 'not_permitted', message, meanwhile(outcome.kind))
    }
    case 'own_promotion': {
      const message = 'Nobody gives themselves another role but a lower one.'
      return { ...refusal('forbidden', 'not_permitted', message, meanwhile(outcome.kind)), param: 'role' }
    }
    case 'invalid':
      return refusal('gone', 'invitation_invalid', 'This invitation is not valid, or no longer. Ask for a new one.')
  }
}

function meanwhile(kind: string): string {
  return `the members were changed meanwhile (${kind}): try again`
}

function conflict(code: string, message: string, command?: string): Refusal {
  return refusal('conflict', code, message, command)
}

function refusal(error: Refusal['error'], code: string, message: string, command = message): Refusal {
  return { error, code, message, command: () => command }
}
