/** Pages of mailed links, without a session: an address confirms that it wants alerts, and a recipient turns a kind of mail off. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { readUnsubscribeToken, UNSUBSCRIBE_PATH, type Unsubscription } from '@/accounts/alerts/unsubscribe'
import { tokensFrom } from '@/console/auth/limits'
import { createPlainPage } from '@/console/http/plain-page'
import { exactly } from '@/console/http/wire'
import type { AlertKind, ScheduledKind } from '@/db/alert-schema'
import { queryOf } from '@/http/request-line'
import type { Brand } from '@/lib/brand'
import { escapeHtml } from '@/lib/html/escape'
import { orNull } from '@/lib/schemas'
import type { Secrets } from '@/lib/secrets'
import { visitorsOver } from '@/people/operation'
import { Token } from '@/people/sign-in/schemas'
import { type SessionDeps, visitorOf } from '@/people/sign-in/visitor'
import { confirmAlertAddress, readAlertQuestion } from './addresses'
import { chooseMails } from './choices'
import { ALERT_MAILS, CONFIRM_ALERTS_DAYS, SCHEDULED_MAILS } from './fields'

export type AlertDeps = SessionDeps & {
  mailSecrets(): Promise<Secrets>
  /** The operator's name and colour. */
  brand: Pick<Brand, 'name' | 'color'>
}

const Question = Type.Object({
  email: Type.String({ description: 'The new address for alerts' }),
  accountName: Type.String({ description: 'The account' }),
  askedBy: orNull(Type.String(), { description: 'Name of the requesting person; null: an operator' }),
})

const LINK = `With the token of the mail, which works once, within ${CONFIRM_ALERTS_DAYS} days (400 \`invalid_link\`).`

const operation = visitorsOver<AlertDeps>()

const ask = operation('alert_address.question', 'POST /alert-addresses/show', {
  summary: 'Show the account whose alerts an address may get',
  description: LINK,
  takes: exactly({ token: Token }),
  gives: Question,
  async run({ deps, request }, { token }) {
    const { throttle, database } = deps.auth.parts
    await throttle.attempt(...tokensFrom(visitorOf(deps, request).address))
    return await readAlertQuestion(database.db, token)
  },
})

const confirm = operation('alert_address.confirm', 'POST /alert-addresses/confirm', {
  summary: 'Confirm an address for alerts',
  description: `It gets them from then on. ${LINK}`,
  takes: exactly({ token: Token }),
  gives: Question,
  async run({ deps, request }, { token }) {
    const { throttle, database } = deps.auth.parts
    const { address: ip, requestId } = visitorOf(deps, request)
    await throttle.attempt(...tokensFrom(ip))
    return await confirmAlertAddress(database, token, { ip, ...(requestId !== undefined && { requestId }) })
  },
})

export const ALERT_LINK_OPERATIONS = [ask, confirm] as const

/** Unsubscribing from mails without signing in: a page, and a one-click route (RFC 8058). GET changes nothing: link scanners open links. */
export function unsubscribeRoutes(deps: AlertDeps) {
  const respond = pageOf(deps.brand)
  const read = async ({ url }: Request) =>
    readUnsubscribeToken(await deps.mailSecrets(), new URLSearchParams(queryOf(url)).get('token') ?? '')
  return new Elysia({ name: 'unsubscribe-routes' })
    .get(
      UNSUBSCRIBE_PATH,
      async ({ request }) => {
        const asked = await read(request)
        return asked ? respond(ASK(asked), 200) : respond(UNKNOWN, 404)
      },
      { detail: { hide: true } },
    )
    .post(
      UNSUBSCRIBE_PATH,
      async ({ request }) => {
        const asked = await read(request)
        if (!asked) return respond(UNKNOWN, 404)
        await chooseMails(deps.auth.parts.database, { ...asked, isWanted: false }, Date.now())
        return respond(DONE(asked), 200)
      },
      // The body is ignored: the link contains everything.
      { parse: () => null, detail: { hide: true } },
    )
}

const WORDS: Record<AlertKind | ScheduledKind | 'alerts', { noMore: string }> = {
  alerts: { noMore: 'alerts' },
  ...ALERT_MAILS,
  ...SCHEDULED_MAILS,
}

const ASK = ({ kind, email }: Unsubscription) => `<h1>No more ${WORDS[kind].noMore}?</h1>
<p>They will not be sent to ${escapeHtml(email)} any more.</p>
<form method="post"><button>Turn them off</button></form>`

const DONE = ({ kind, email }: Unsubscription) => `<h1>Turned off</h1>
<p role="status">No more ${WORDS[kind].noMore} are sent to ${escapeHtml(email)}. Members turn them on again on the page of alerts.</p>`

const UNKNOWN = '<h1>This link is not valid</h1><p>Open the link in the mail as it stands there.</p>'

const pageOf = ({ name, color = '#4f46e5' }: AlertDeps['brand']) =>
  createPlainPage(
    name === undefined ? 'Mails' : `Mails · ${name}`,
    `
main{width:min(28rem,100%)}
p{overflow-wrap:anywhere}
button{font:inherit;cursor:pointer;padding:.6rem .9rem;border-radius:.5rem;border:0;background:${color};color:#fff}`,
  )
