/** The page of the sandbox provider as HTML: plain, without scripts, and honest about taking no money. */
import { createHash } from 'node:crypto'
import type { SandboxPayment } from '@/console/orders/deposits/sandbox-deposit'
import { escapeHtml } from '@/lib/html/escape'

const STYLE = `
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0;display:grid;place-items:center;min-height:100vh;background:light-dark(#f3f5f7,#101418);color:light-dark(#14181c,#e8ecf0)}
main{box-sizing:border-box;width:min(26rem,100%);padding:1.5rem;background:light-dark(#fff,#1a2026);border-radius:.75rem}
h1{font-size:1.25rem;margin:0}
.amount{font-size:2rem;font-weight:600;margin:.5rem 0 0}
.note{background:light-dark(#fff3d6,#3a2f10);border-radius:.5rem;padding:.5rem .75rem;margin:1rem 0}
form{display:grid;gap:.5rem;margin-top:.75rem}
input,button{font:inherit;background:none;color:inherit;padding:.6rem .75rem;border-radius:.5rem;border:1px solid light-dark(#8893a0,#5b6774)}
button{cursor:pointer}
button.main{background:#0b5fcc;border-color:#0b5fcc;color:#fff}
a{color:light-dark(#0b5fcc,#7db7ff)}
code{overflow-wrap:anywhere}`

/** The only style that the page may use. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** What the page says above its form after something was done. */
type SandboxNotice = { text: string; isDone: boolean }

/** The payment page; its form posts to the page's own address. */
export function sandboxPage(payment: SandboxPayment, notice?: SandboxNotice, status = 200): Response {
  const { reference, amountCents, returnUrl } = payment
  const amount = (amountCents / 100).toFixed(2)
  const body = `
<h1>Sandbox payment</h1>
<p class="note">This page takes no money. It stands for the page of a payment provider.</p>
${notice ? `<p role="status"><strong>${escapeHtml(notice.text)}</strong></p>` : ''}
<p class="amount">${escapeHtml(amount)} USD</p>
<p>Reference <code>${escapeHtml(reference)}</code></p>
${notice?.isDone ? '' : forms(amount)}
${returnUrl === null ? '' : `<p><a href="${escapeHtml(returnUrl)}">Back to the order</a></p>`}`
  return respond(body, status)
}

/** What a link that is not one of ours leads to. */
export function unknownSandboxPage(): Response {
  return respond('<h1>Sandbox payment</h1><p>There is no such payment.</p>', 404)
}

function forms(amount: string): string {
  return `
<form method="post"><input type="hidden" name="action" value="pay"><button class="main">Pay ${escapeHtml(amount)} USD</button></form>
<form method="post"><input type="hidden" name="action" value="pay_other">
<label for="amount">Another amount in USD</label>
<input id="amount" name="amount" inputmode="decimal" maxlength="12" autocomplete="off" required>
<button>Pay a different amount</button></form>
<form method="post"><input type="hidden" name="action" value="cancel"><button>Cancel</button></form>`
}

function respond(body: string, status: number): Response {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Sandbox payment</title><style>${STYLE}</style></head><body><main>${body}
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
