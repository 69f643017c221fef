/** The routes of credit for signed-in people: how it can be paid for, and the orders of their account. */
import { Type } from '@sinclair/typebox'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { Member } from '@/console/auth/viewer'
import { formatCents, parseCents } from '@/console/orders/cents'
import { SANDBOX_NAME } from '@/console/orders/deposits/sandbox-deposit'
import type { OfferedMethods, OrdersDeps } from '@/console/orders/deps'
import { BANK_TRANSFER_LIFETIME_MS, MAX_CLAIM_NOTE_CHARS, MAX_OPEN_ORDERS } from '@/console/orders/limits'
import type { Orders } from '@/console/orders/orders'
import type { Actor, CreateOutcome, Order } from '@/console/orders/types'
import { assertNever } from '@/lib/assert'
import { orNull } from '@/lib/schemas'
import { refused } from '@/people/keys/refusals'
import type { Caller } from './changed-by'
import { ACCOUNT_PREFIX, type GuardDeps, guarded, IN_ACCOUNT } from './guard'
import { BankBody, MethodName, OrderBody, OrderDetailBody, orderBody, orderDetailBody } from './order-bodies'
import { PageQuery } from './pages'
import { exactly, listOf, mapPage, NoFields } from './wire'

export type OrderRouteDeps = GuardDeps & {
  orders: Orders
  methods: OfferedMethods
  amounts: OrdersDeps['amounts']
  seller: OrdersDeps['seller']
}

const PRESETS_USD = ['10', '25', '50', '100', '250', '500']
const MS_PER_HOUR = 3_600_000
const CENTS_PER_USD = 100

const OrderParams = Type.Object({ ...IN_ACCOUNT, orderId: Type.String({ pattern: '^\\w{1,64}$', maxLength: 64 }) })
const NewOrderBody = exactly({
  amountUsd: Type.String({
    pattern: '^\\d{1,8}(\\.\\d{1,2})?$',
    maxLength: 11,
    description: 'Decimal USD, whole cents',
  }),
  method: MethodName,
})
const ClaimBody = exactly({
  note: Type.Optional(
    Type.String({
      maxLength: MAX_CLAIM_NOTE_CHARS,
      description: 'Time and origin of the payment, as text',
    }),
  ),
})
const Options = Type.Object({
  minimumUsd: Type.String(),
  maximumUsd: Type.String(),
  presetsUsd: Type.Array(Type.String()),
  maxOpenOrders: Type.Integer({ description: 'Orders that may wait for money at the same time' }),
  bankTransfer: orNull(Type.Object({ bank: BankBody, expiresAfterHours: Type.Number() })),
  deposit: orNull(
    Type.Object({
      provider: Type.String(),
      isSandbox: Type.Boolean(),
      addsTax: Type.Boolean({ description: "The provider adds tax to the amount, by the payer's address" }),
      savesCards: Type.Boolean({ description: 'The account can have an auto top-up' }),
      expiresAfterHours: Type.Number(),
    }),
  ),
})

const DOCUMENT = {
  response: Type.Object({ url: Type.String() }),
  detail: {
    summary: "Get the provider's invoice or receipt",
    description: 'The document’s address. 404 if there is none yet.',
  },
}

/** Mounts `/dashboard/api/a/:accountId/orders`. */
export function orderRoutes(deps: OrderRouteDeps) {
  return guarded(deps, 'order-routes', `${ACCOUNT_PREFIX}/orders`)
    .get('/options', () => options(deps), {
      may: 'billing.read',
      response: Options,
      detail: {
        summary: 'Ways to buy credit',
        description: 'Limits of an order and the methods on offer; a method that is null is not offered.',
      },
    })
    .get('', async ({ viewer, query }) => mapPage(await deps.orders.list(viewer.accountId, query), orderBody), {
      may: 'billing.read',
      query: PageQuery,
      response: listOf(OrderBody, { description: 'Newest first' }),
      detail: { summary: 'List orders of credit', description: 'Newest first.' },
    })
    .post('', (caller) => create(deps, caller, caller.body), {
      may: 'billing.pay',
      body: NewOrderBody,
      response: OrderBody,
      detail: {
        summary: 'Order credit',
        description: `Nothing is credited before its payment has arrived. At most ${MAX_OPEN_ORDERS} may be open (409).`,
      },
    })
    .get('/:orderId', ({ viewer, params }) => detail(deps, viewer, params.orderId), {
      may: 'billing.read',
      params: OrderParams,
      response: OrderDetailBody,
      detail: {
        summary: 'Get an order',
        description: 'With payment details, events, payments, and the receipt once it is paid.',
      },
    })
    .post('/:orderId/set-up', (caller) => setUp(deps, caller, caller.params.orderId), {
      may: 'billing.pay',
      params: OrderParams,
      body: NoFields,
      response: OrderBody,
      detail: {
        summary: 'Set the payment of an order up',
        description: 'For a deposit without a page to pay on. A payment that exists is never set up again.',
      },
    })
    .get('/:orderId/document', ({ viewer, params }) => document(deps, viewer, params.orderId), {
      may: 'billing.read',
      params: OrderParams,
      ...DOCUMENT,
    })
    .post('/:orderId/cancel', (caller) => cancel(deps, caller, caller.params.orderId), {
      may: 'billing.pay',
      params: OrderParams,
      body: NoFields,
      response: OrderBody,
      detail: { summary: 'Cancel an order', description: 'Only while it waits for money (409 otherwise).' },
    })
    .post('/:orderId/claim-paid', (caller) => claim(deps, caller, caller.params.orderId, caller.body.note), {
      may: 'billing.pay',
      params: OrderParams,
      body: ClaimBody,
      response: OrderBody,
      detail: {
        summary: 'Say that an order is paid',
        description:
          'A note for the administrators who match payments; credits nothing. Only while the order waits for money (409 otherwise).',
      },
    })
}

function options({ methods: { bankTransfer, deposit }, amounts }: OrderRouteDeps): typeof Options.static {
  return {
    minimumUsd: formatCents(amounts.minimumCents),
    maximumUsd: formatCents(amounts.maximumCents),
    presetsUsd: PRESETS_USD.filter((usd) => isWithin(amounts, Number(usd) * CENTS_PER_USD)),
    maxOpenOrders: MAX_OPEN_ORDERS,
    bankTransfer: bankTransfer
      ? { bank: bankTransfer, expiresAfterHours: BANK_TRANSFER_LIFETIME_MS / MS_PER_HOUR }
      : null,
    deposit: deposit
      ? {
          provider: deposit.name,
          isSandbox: deposit.name === SANDBOX_NAME,
          addsTax: deposit.inquiry?.addsTax ?? false,
          savesCards: deposit.cards !== undefined,
          expiresAfterHours: deposit.lifetimeMs / MS_PER_HOUR,
        }
      : null,
  }
}

function isWithin({ minimumCents, maximumCents }: OrdersDeps['amounts'], cents: number): boolean {
  return cents >= minimumCents && cents <= maximumCents
}

async function create(deps: OrderRouteDeps, caller: Caller, { amountUsd, method }: typeof NewOrderBody.static) {
  const { accountId } = caller.viewer
  const amountCents = parseCents(amountUsd)
  if (amountCents === undefined) throw invalidRequest('The amount must be USD with at most two decimals.', 'amountUsd')
  const returnUrl = returnUrlOf(deps, caller)
  const outcome = await deps.orders.create({ accountId, method, amountCents, returnUrl, actor: actorOf(caller) })
  if (outcome.kind === 'created') return orderBody(outcome.order)
  throw creationError(outcome)
}

/** Where a provider sends the customer back to, before the order's id. */
function returnUrlOf({ publicUrl }: OrderRouteDeps, { request, viewer }: Caller): string {
  return `${publicUrl ?? new URL(request.url).origin}/dashboard/a/${viewer.accountId}/credit/orders/`
}

function creationError(outcome: Exclude<CreateOutcome, { kind: 'created' }>): GatewayError {
  switch (outcome.kind) {
    case 'amount_out_of_range': {
      const [minimum, maximum] = [outcome.minimumCents, outcome.maximumCents].map(formatCents)
      return invalidRequest(`The amount must be from ${minimum} to ${maximum} USD.`, 'amountUsd')
    }
    case 'too_many_open':
      return new GatewayError(
        'conflict',
        `${outcome.limit} orders are waiting for their payment. Pay or cancel one of them first.`,
        { code: 'too_many_open_orders' },
      )
    case 'too_many_today':
      return new GatewayError('rate_limited', `At most ${outcome.limit} orders can be made within 24 hours.`, {
        code: 'too_many_orders',
      })
    case 'method_unavailable':
      return invalidRequest('This way to pay is not offered.', 'method')
    case 'unknown_account':
      return refused('unknown_account')
    case 'provider_failed':
      return noAnswer()
    default:
      return assertNever(outcome)
  }
}

/** The error of a provider that does not answer. */
export function noAnswer(cause?: unknown): GatewayError {
  return new GatewayError('upstream_failed', 'The payment provider does not answer. Try again, or pay another way.', {
    cause,
  })
}

async function detail(deps: OrderRouteDeps, { accountId, email }: Member, orderId: string) {
  const order = await deps.orders.get(orderId, accountId)
  if (!order) throw noSuchOrder()
  return orderDetailBody(order, {
    seller: deps.seller,
    viewerEmail: email,
    documentsOf: deps.methods.deposit?.inquiry && deps.methods.deposit.name,
  })
}

async function setUp(deps: OrderRouteDeps, caller: Caller, orderId: string): Promise<OrderBody> {
  const { accountId } = caller.viewer
  const outcome = await deps.orders.setUpPayment({ orderId, accountId, returnUrl: returnUrlOf(deps, caller) })
  if (outcome.kind === 'provider_failed') throw noAnswer()
  return changed(outcome)
}

async function document(deps: OrderRouteDeps, { accountId }: Member, orderId: string) {
  const url = await deps.orders.documentUrl(orderId, accountId).catch((cause: unknown) => {
    throw noAnswer(cause)
  })
  if (url === undefined) throw new GatewayError('not_found', 'There is no invoice or receipt of the provider yet.')
  return { url }
}

async function cancel(deps: OrderRouteDeps, caller: Caller, orderId: string) {
  const { accountId } = caller.viewer
  const outcome = await deps.orders.cancel({ orderId, accountId, actor: actorOf(caller) })
  return changed(outcome)
}

async function claim(deps: OrderRouteDeps, caller: Caller, orderId: string, note = '') {
  const { accountId } = caller.viewer
  const outcome = await deps.orders.claimPaid({ orderId, accountId, note: note.trim(), actor: actorOf(caller) })
  return changed(outcome)
}

type Changed =
  | { kind: 'too_many_claims'; limit: number }
  | { kind: 'cancelled' | 'claimed' | 'set_up'; order: Order }
  | { kind: 'not_found' | 'payment_under_way' | 'provider_unreachable' }
  | { kind: 'not_pending'; order: Order }

function changed(outcome: Changed): OrderBody {
  switch (outcome.kind) {
    case 'not_found':
      throw noSuchOrder()
    case 'not_pending':
      throw new GatewayError('conflict', `The order is ${outcome.order.state.replace('_', ' ')} by now.`, {
        code: 'order_not_pending',
      })
    case 'payment_under_way':
      throw new GatewayError(
        'conflict',
        'The payment of this order is under way, so it can neither be cancelled nor be paid again.',
        {
          code: 'payment_under_way',
        },
      )
    case 'provider_unreachable':
      throw noAnswer()
    case 'too_many_claims':
      throw new GatewayError('rate_limited', `You have said so ${outcome.limit} times: we will look at it.`, {
        code: 'too_many_claims',
      })
    default:
      return orderBody(outcome.order)
  }
}

function noSuchOrder(): GatewayError {
  return new GatewayError('not_found', 'There is no such order.')
}

/** The acting person, for orders. */
export function actorOf({ by: { actor, ip, requestId } }: Caller): Actor {
  return { kind: 'person', ...actor, ip, requestId }
}
