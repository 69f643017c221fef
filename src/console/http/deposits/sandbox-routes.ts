/** The page of the sandbox provider, and its buttons: each sends the signed webhook that a real provider would send. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import { parseCents } from '@/console/orders/cents'
import {
  SANDBOX_NAME,
  SANDBOX_PATH,
  type SandboxMessage,
  type SandboxProvider,
} from '@/console/orders/deposits/sandbox-deposit'
import { SIGNATURE_HEADERS } from '@/console/orders/deposits/webhook-signature'
import { oneOf } from '@/lib/schemas'
import { sandboxPage, unknownSandboxPage } from './sandbox-page'

export type SandboxDepositDeps = {
  /** Undefined: the sandbox page does not exist. */
  sandbox: SandboxProvider | undefined
  /** Handles a request as if it came from the network, so that the sandbox needs no address of the gateway. */
  deliver(request: Request): Promise<Response>
}

const MAX_FORM_CHARS = 4096

const Params = Type.Object({ token: Type.String({ minLength: 1, maxLength: 2000 }) })
const Form = Type.Object({
  action: oneOf(['pay', 'pay_other', 'cancel']),
  amount: Type.Optional(Type.String({ maxLength: 12 })),
})

export function sandboxDepositRoutes(deps: SandboxDepositDeps) {
  const path = `${SANDBOX_PATH}/:token` as const
  return new Elysia({ name: 'sandbox-deposit-routes' })
    .get(path, ({ params }) => show(deps, params.token), { params: Params, detail: { hide: true } })
    .post(path, ({ params, body }) => act(deps, params.token, body), {
      params: Params,
      body: Form,
      parse: ({ request }) => readForm(request),
      detail: { hide: true },
    })
}

/** The handler reads the form itself: the framework would take a form of any length into memory. */
async function readForm(request: Request): Promise<Record<string, string>> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of request.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_FORM_CHARS) throw new GatewayError('too_large', 'The form is too long.')
  }
  return Object.fromEntries(new URLSearchParams(text))
}

async function show({ sandbox }: SandboxDepositDeps, token: string): Promise<Response> {
  const payment = await sandbox?.open(token)
  return payment ? sandboxPage(payment) : unknownSandboxPage()
}

async function act(deps: SandboxDepositDeps, token: string, form: typeof Form.static): Promise<Response> {
  const { sandbox } = deps
  const payment = await sandbox?.open(token)
  if (!sandbox || !payment) return unknownSandboxPage()
  if (form.action === 'cancel') {
    await send(deps, await sandbox.cancelled(payment))
    return sandboxPage(payment, { text: 'Cancelled: nothing was paid.', isDone: true })
  }
  const amountCents = form.action === 'pay' ? payment.amountCents : parseCents(form.amount?.trim() ?? '')
  if (amountCents === undefined || amountCents < 1) {
    return sandboxPage(payment, { text: 'Enter an amount such as 12.50.', isDone: false }, 400)
  }
  const answer = await send(deps, await sandbox.paid(payment, amountCents))
  if (answer.ok) return sandboxPage(payment, { text: 'Paid. The gateway has been told.', isDone: true })
  return sandboxPage(payment, { text: `The gateway refused the webhook (${answer.status}).`, isDone: false }, 502)
}

/** Sends a signed webhook to the route that receives real ones. */
function send({ deliver }: SandboxDepositDeps, { headers, body }: SandboxMessage): Promise<Response> {
  return deliver(
    new Request(`http://localhost/webhooks/deposits/${SANDBOX_NAME}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        [SIGNATURE_HEADERS.id]: headers.id,
        [SIGNATURE_HEADERS.timestamp]: headers.timestamp,
        [SIGNATURE_HEADERS.signature]: headers.signature,
      },
      body,
    }),
  )
}
