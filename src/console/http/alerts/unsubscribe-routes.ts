import { Elysia } from 'elysia'
import { readUnsubscribeToken, UNSUBSCRIBE_PATH, type Unsubscription } from '@/accounts/alerts/unsubscribe'
import { createPlainPage } from '@/console/http/plain-page'
import type { OptionalKind } from '@/db/alert-schema'
import { queryOf } from '@/http/request-line'
import type { Brand } from '@/lib/brand'
import { escapeHtml } from '@/lib/html/escape'
import type { Secrets } from '@/lib/secrets'

export type UnsubscribeDeps = {
  mailSecrets(): Promise<Secrets>
  turnOff(unsubscription: Unsubscription): Promise<void>
  /** The operator's name and colour. */
  brand: Pick<Brand, 'name' | 'color'>
}

/** Unsubscribing from mails without signing in: a page, and a one-click route (RFC 8058). GET changes nothing: link scanners open links. */
export function unsubscribeRoutes(deps: UnsubscribeDeps) {
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
        await deps.turnOff(asked)
        return respond(DONE(asked), 200)
      },
      // The body is ignored: the link contains everything.
      { parse: () => null, detail: { hide: true } },
    )
}

const WORDS: Record<OptionalKind, string> = {
  alerts: 'alerts',
  balance: 'alerts of low credit',
  budget: 'alerts of budgets',
  spend: 'alerts of unusual spend',
  key_expiry: 'reminders of keys that expire',
  digest_weekly: 'digests of the week’s usage',
  digest_monthly: 'digests of the month’s usage',
  export_daily: 'mails with the records of a day',
  export_weekly: 'mails with the records of a week',
  export_monthly: 'mails with the records of a month',
}

const ASK = ({ kind, email }: Unsubscription) => `<h1>No more ${WORDS[kind]}?</h1>
<p>They will not be sent to ${escapeHtml(email)} any more.</p>
<form method="post"><button>Turn them off</button></form>`

const DONE = ({ kind, email }: Unsubscription) => `<h1>Turned off</h1>
<p role="status">No more ${WORDS[kind]} are sent to ${escapeHtml(email)}. Members turn them on again on the page of alerts.</p>`

const UNKNOWN = '<h1>This link is not valid</h1><p>Open the link in the mail as it stands there.</p>'

const pageOf = ({ name, color = '#4f46e5' }: UnsubscribeDeps['brand']) =>
  createPlainPage(
    name === undefined ? 'Mails' : `Mails · ${name}`,
    `
main{width:min(28rem,100%)}
p{overflow-wrap:anywhere}
button{font:inherit;cursor:pointer;padding:.6rem .9rem;border-radius:.5rem;border:0;background:${color};color:#fff}`,
  )
