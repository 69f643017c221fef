/** The page, and the address for mail programs (RFC 8058), by which somebody turns a kind of mails off without signing in. */
import { createHash } from 'node:crypto'
import { Elysia } from 'elysia'
import { readUnsubscribeToken, UNSUBSCRIBE_PATH, type Unsubscription } from '@/accounts/alerts/unsubscribe'
import type { OptionalKind } from '@/db/alert-schema'
import { queryOf } from '@/http/request-line'
import { escapeHtml } from '@/lib/html/escape'

export type UnsubscribeDeps = {
  /** What links are sealed by. */
  mailSecret(): Promise<string>
  turnOff(unsubscription: Unsubscription): Promise<void>
}

/** Mounts the page. Looking at it changes nothing: programs that check links look at all of them. */
export function unsubscribeRoutes(deps: UnsubscribeDeps) {
  const read = async ({ url }: Request) =>
    readUnsubscribeToken(await deps.mailSecret(), new URLSearchParams(queryOf(url)).get('token') ?? '')
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
      // What a mail program sends says nothing that the link doesn't.
      { parse: () => null, detail: { hide: true } },
    )
}

const WORDS: Record<OptionalKind, string> = {
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

const STYLE = `
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0;display:grid;place-items:center;min-height:100vh;background:light-dark(#f3f5f7,#101418);color:light-dark(#14181c,#e8ecf0)}
main{box-sizing:border-box;width:min(28rem,100%);padding:1.5rem;background:light-dark(#fff,#1a2026);border-radius:.75rem}
h1{font-size:1.25rem;margin:0}
p{overflow-wrap:anywhere}
button{font:inherit;cursor:pointer;padding:.6rem .9rem;border-radius:.5rem;border:0;background:#4f46e5;color:#fff}`

/** The only style that the page may use. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

function respond(body: string, status: number): Response {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Mails</title><style>${STYLE}</style></head><body><main>${body}
</main></body></html>
`
  return new Response(html, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
}
