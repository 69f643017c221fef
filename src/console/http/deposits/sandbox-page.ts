/** The page of the sandbox provider as HTML: plain, without scripts, and honest about taking no money. */
import { createPlainPage } from '@/console/http/plain-page'
import type { SandboxPayment } from '@/console/orders/deposits/sandbox-deposit'
import { escapeHtml } from '@/lib/html/escape'

const respond = createPlainPage(
  'Sandbox payment',
  `
main{width:min(26rem,100%)}
.amount{font-size:2rem;font-weight:600;margin:.5rem 0 0}
.note{background:light-dark(#fff3d6,#3a2f10);border-radius:.5rem;padding:.5rem .75rem;margin:1rem 0}
form{display:grid;gap:.5rem;margin-top:.75rem}
input,button{font:inherit;background:none;color:inherit;padding:.6rem .75rem;border-radius:.5rem;border:1px solid light-dark(#8893a0,#5b6774)}
button{cursor:pointer}
button.main{background:#0b5fcc;border-color:#0b5fcc;color:#fff}
a{color:light-dark(#0b5fcc,#7db7ff)}
code{overflow-wrap:anywhere}`,
)

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

/** The page for an invalid link. */
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
