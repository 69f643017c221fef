/** Orders of credit for members: ways to pay, and the orders of their account. */
import { type Static, Type } from '@sinclair/typebox'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { GuardDeps } from '@/console/http/guard'
import { exactly, mapPage } from '@/console/http/wire'
import { formatCents, parseCents } from '@/console/orders/cents'
import { SANDBOX_NAME } from '@/console/orders/deposits/sandbox-deposit'
import type { OfferedMethods, OrdersDeps } from '@/console/orders/deps'
import { BANK_TRANSFER_LIFETIME_MS, MAX_CLAIM_NOTE_CHARS, MAX_OPEN_ORDERS } from '@/console/orders/limits'
import type { Orders } from '@/console/orders/orders'
import type { Actor, CreateOutcome, Order } from '@/console/orders/types'
import type { PageRequest } from '@/db/paging'
import { orNull } from '@/lib/schemas'
import { refused } from '@/people/keys/refusals'
import type { OperationCaller } from '@/people/operation'
import { BankBody, MethodName, type OrderBody, orderBody, orderDetailBody } from './bodies'

/** The services that operations on orders use. */
export type OrderDeps = GuardDeps & {
  orders: Orders
  methods: OfferedMethods
  amounts: OrdersDeps['amounts']
  seller: OrdersDeps['seller']
}

/** A member's call. */
export type OrderCall = OperationCaller & { deps: OrderDeps }
type OnOrder = OrderCall & { params: { orderId: string } }

const PRESETS_USD = ['10', '25', '50', '100', '250', '500']
const MS_PER_HOUR = 3_600_000
const CENTS_PER_USD = 100

/** The path parameter that names an order. */
export const ORDER_PARAMS = { orderId: Type.String({ pattern: '^\\w{1,64}$', maxLength: 64 }) }

/** The schema of decimal USD with whole cents; {@link readCents} parses it. */
export const cents = (description: string) =>
  Type.String({ pattern: '^\\d{1,8}(\\.\\d{1,2})?$', maxLength: 11, description })

export const NewOrderBody = exactly({ amountUsd: cents('Decimal USD, whole cents'), method: MethodName })

export const ClaimBody = exactly({
  note: Type.Optional(
    Type.String({ maxLength: MAX_CLAIM_NOTE_CHARS, description: 'Time and origin of the payment, as text' }),
  ),
})

export const Options = Type.Object({
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

/** The offered ways to pay, and the limits of an order. */
export async function readOptions({
  deps: { methods, amounts },
}: Pick<OrderCall, 'deps'>): Promise<Static<typeof Options>> {
  const { bankTransfer, deposit } = methods
  const { minimumCents, maximumCents } = amounts
  return {
    minimumUsd: formatCents(minimumCents),
    maximumUsd: formatCents(maximumCents),
    presetsUsd: PRESETS_USD.filter((usd) => {
      const presetCents = Number(usd) * CENTS_PER_USD
      return presetCents >= minimumCents && presetCents <= maximumCents
    }),
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

/** One page of the account's orders. */
export async function listOrders({ deps, viewer }: OrderCall, query: PageRequest) {
  return mapPage(await deps.orders.list(viewer.accountId, query), orderBody)
}

/** Makes an order, and sets its payment up if it is a deposit. */
export async function createOrder(call: OrderCall, { amountUsd, method }: Static<typeof NewOrderBody>) {
  const { deps, viewer } = call
  const outcome = await deps.orders.create({
    ...{ accountId: viewer.accountId, method, amountCents: readCents(amountUsd, 'amountUsd') },
    ...{ returnUrl: `${creditPage(call)}/orders/`, actor: actorOf(call) },
  })
  if (outcome.kind === 'created') return orderBody(outcome.order)
  throw creationError(outcome)
}

/** The account's page of credit, to which a provider sends the customer back. */
export function creditPage({ deps: { publicUrl }, request, viewer }: OrderCall): string {
  return `${publicUrl ?? new URL(request.url).origin}/dashboard/a/${viewer.accountId}/credit`
}

/** Parses decimal USD into cents. Throws `invalid_request` for parts of a cent. */
export function readCents(text: string, field: string): number {
  const amountCents = parseCents(text)
  if (amountCents === undefined) throw invalidRequest('The amount must be USD with at most two decimals.', field)
  return amountCents
}

function creationError(outcome: Exclude<CreateOutcome, { kind: 'created' }>): GatewayError {
  switch (outcome.kind) {
    case 'amount_out_of_range':
      return outOfRange(outcome, 'amountUsd')
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
      return invalidRequest('This payment method is not offered.', 'method')
    case 'unknown_account':
      return refused('unknown_account')
    case 'provider_failed':
      return noAnswer()
  }
}

/** The error for an amount below the minimum or above the maximum. */
export function outOfRange(limits: { minimumCents: number; maximumCents: number }, field: string): GatewayError {
  const [minimum, maximum] = [limits.minimumCents, limits.maximumCents].map(formatCents)
  return invalidRequest(`The amount must be from ${minimum} to ${maximum} USD.`, field)
}

/** The error of a provider that does not answer. */
export function noAnswer(cause?: unknown): GatewayError {
  return new GatewayError('upstream_failed', 'The payment provider does not answer. Try again, or pay another way.', {
    cause,
  })
}

/** One order with all its events. */
export async function showOrder({ deps, viewer, params }: OnOrder) {
  const order = await deps.orders.get(params.orderId, viewer.accountId)
  if (!order) throw noSuchOrder()
  return orderDetailBody(order, {
    seller: deps.seller,
    viewerEmail: viewer.email,
    documentsOf: deps.methods.deposit?.inquiry && deps.methods.deposit.name,
  })
}

/** Sets the payment of a deposit up, if it has none. */
export async function setUpPayment(call: OnOrder): Promise<OrderBody> {
  return changed(await call.deps.orders.setUpPayment({ ...ownOrder(call), returnUrl: `${creditPage(call)}/orders/` }))
}

/** The address of the provider's invoice or receipt. */
export async function findDocument({ deps, viewer, params }: OnOrder) {
  const url = await deps.orders.documentUrl(params.orderId, viewer.accountId).catch((cause: unknown) => {
    throw noAnswer(cause)
  })
  if (url === undefined) throw new GatewayError('not_found', 'The provider has not made an invoice or receipt yet.')
  return { url }
}

/** Cancels an order that waits for money. */
export async function cancelOrder(call: OnOrder): Promise<OrderBody> {
  return changed(await call.deps.orders.cancel({ ...ownOrder(call), actor: actorOf(call) }))
}

/** Stores that the customer has reported the order as paid. */
export async function claimPaid(call: OnOrder, { note = '' }: Static<typeof ClaimBody>): Promise<OrderBody> {
  return changed(await call.deps.orders.claimPaid({ ...ownOrder(call), note: note.trim(), actor: actorOf(call) }))
}

function ownOrder({ viewer: { accountId }, params: { orderId } }: OnOrder) {
  return { orderId, accountId }
}

type Changed =
  | { kind: 'too_many_claims'; limit: number }
  | { kind: 'cancelled' | 'claimed' | 'set_up'; order: Order }
  | { kind: 'not_found' | 'payment_under_way' | 'provider_unreachable' | 'provider_failed' }
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
        { code: 'payment_under_way' },
      )
    case 'provider_unreachable':
    case 'provider_failed':
      throw noAnswer()
    case 'too_many_claims':
      throw new GatewayError(
        'rate_limited',
        `You have reported this payment ${outcome.limit} times: the operator will look at it.`,
        {
          code: 'too_many_claims',
        },
      )
    default:
      return orderBody(outcome.order)
  }
}

/** The error for an order that does not exist, or belongs to another account. */
export function noSuchOrder(): GatewayError {
  return new GatewayError('not_found', 'There is no such order.')
}

/** The acting person, for orders. */
export function actorOf({ viewer: { userId, email }, by: { ip, requestId } }: OperationCaller): Actor {
  return {
    ...{ kind: 'person', userId, email },
    ...(ip !== undefined && { ip }),
    ...(requestId !== undefined && { requestId }),
  }
}
