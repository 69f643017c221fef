/** Adds further alert addresses to an account, and serves their mailed confirmation links. */
import { Type } from '@sinclair/typebox'
import {
  type AlertQuestion,
  type AskOutcome,
  type addAlertAddress,
  CONFIRM_ALERTS_DAYS,
} from '@/accounts/alerts/addresses'
import type { ChangedBy } from '@/accounts/audit'
import { GatewayError } from '@/chat/error'
import { invalidLink, mailNotConfigured } from '@/console/auth/failure'
import { alertQuestionsBy, alertQuestionsTo, tokensFrom } from '@/console/auth/limits'
import type { Member } from '@/console/auth/viewer'
import { linkFor } from '@/console/auth/visitor'
import { guarded } from '@/console/http/guard'
import { type SessionDeps, visitorOf } from '@/console/http/session/context'
import { Token } from '@/console/http/session/schemas'
import { exactly } from '@/console/http/wire'
import { orNull } from '@/lib/schemas'

type Asking = Parameters<typeof addAlertAddress>[1]

export type AddressDeps = SessionDeps & {
  alertAddresses: {
    add(asking: Asking, email: string): Promise<AskOutcome>
    askAgain(asking: Asking, email: string): Promise<AskOutcome>
    read(token: string): Promise<AlertQuestion | undefined>
    confirm(token: string, by: Omit<ChangedBy, 'actor'>): Promise<AlertQuestion | undefined>
  }
}

type Caller = { viewer: Member; by: ChangedBy; request: Request }

/** Adds an address and mails it a confirmation link. Throws if the address is refused. */
export async function addAddress(deps: AddressDeps, caller: Caller, email: string): Promise<void> {
  await askCounted(deps, caller, email, deps.alertAddresses.add)
}

/** Mails the confirmation link again. Throws if refused. */
export async function askAgain(deps: AddressDeps, caller: Caller, email: string): Promise<void> {
  await askCounted(deps, caller, email, deps.alertAddresses.askAgain)
}

/** Counts a mail against the limits; refused requests are uncounted. */
async function askCounted(
  { auth }: AddressDeps,
  { viewer: { accountId, name }, by, request }: Caller,
  address: string,
  ask: AddressDeps['alertAddresses']['add'],
): Promise<void> {
  const { throttle, mails } = auth.parts
  if (!mails) throw mailNotConfigured('Ask its operator to add the address.')
  const limits = [alertQuestionsBy(accountId), ...alertQuestionsTo(address)]
  await throttle.attempt(...limits)
  const outcome = await ask(
    {
      ...{ accountId, by },
      async tell(transaction, { email, token, accountName }) {
        const facts = { accountName, askedBy: name, days: CONFIRM_ALERTS_DAYS }
        await mails.post(
          transaction,
          email,
          { kind: 'confirm_alerts', facts },
          { ...linkFor({ request }, token), accountId },
        )
      },
    },
    address,
  )
  if (outcome.kind === 'asked') return mails.hurry()
  await throttle.giveBack(...limits)
  throw refusalOf(outcome)
}

function refusalOf(outcome: Exclude<AskOutcome, { kind: 'asked' }>): GatewayError {
  const refuse = (text: string) => new GatewayError('conflict', text, { code: outcome.kind, param: 'email' })
  switch (outcome.kind) {
    case 'unknown_account':
      return new GatewayError('not_found', 'There is no such account.')
    case 'unknown_address':
      return new GatewayError('not_found', 'This address is not in the list.', { param: 'email' })
    case 'already_there':
      return refuse('This address is in the list already.')
    case 'already_confirmed':
      return refuse('This address is confirmed already.')
    case 'too_many':
      return refuse(`An account has at most ${outcome.limit} further addresses. Remove one first.`)
  }
}

const Question = Type.Object({
  email: Type.String({ description: 'The new address for alerts' }),
  accountName: Type.String({ description: 'The account' }),
  askedBy: orNull(Type.String(), { description: 'Name of the requesting person; null: an operator' }),
})

/** The routes for a confirmation link's page and its answer. They need no session. */
export function alertQuestionRoutes(deps: AddressDeps) {
  const { alertAddresses, auth } = deps
  const body = exactly({ token: Token })
  return guarded(deps, 'alert-question-routes', '/dashboard/api/alert-addresses')
    .post(
      '/show',
      async ({ request, body: { token } }) => {
        await auth.parts.throttle.attempt(...tokensFrom(visitorOf(deps, request).address))
        return questionOf(await alertAddresses.read(token))
      },
      {
        sameOrigin: true,
        body,
        response: Question,
        detail: { summary: 'Show the account whose alerts an address may get', description: LINK },
      },
    )
    .post(
      '/confirm',
      async ({ request, body: { token } }) => {
        const { address: ip, requestId } = visitorOf(deps, request)
        await auth.parts.throttle.attempt(...tokensFrom(ip))
        return questionOf(await alertAddresses.confirm(token, { ip, ...(requestId !== undefined && { requestId }) }))
      },
      {
        sameOrigin: true,
        body,
        response: Question,
        detail: { summary: 'Confirm an address for alerts', description: `It gets them from then on. ${LINK}` },
      },
    )
}

const LINK = `With the token of the mail, which works once, within ${CONFIRM_ALERTS_DAYS} days (400 \`invalid_link\`).`

function questionOf(question: AlertQuestion | undefined): AlertQuestion {
  if (!question) throw invalidLink()
  const { email, accountName, askedBy } = question
  return { email, accountName, askedBy }
}
