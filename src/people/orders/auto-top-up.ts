/** An account's auto top-up: its saved card, and the amounts. */
import { type Static, Type } from '@sinclair/typebox'
import { GatewayError } from '@/chat/error'
import { exactly, DecimalUsd as Usd } from '@/console/http/wire'
import { amountsInUsd, type TopUpAmounts, topUpLimits } from '@/console/orders/auto-top-up/settings'
import { formatCents } from '@/console/orders/cents'
import { STOP_REASONS } from '@/db/orders-schema'
import { titled } from '@/http/openapi/titled'
import { oneOf, orNull } from '@/lib/schemas'
import { refused } from '@/people/keys/refusals'
import { OrderBody, orderBody } from './bodies'
import { actorOf, cents, creditPage, noAnswer, type OrderCall, outOfRange, readCents } from './orders'

export const AmountsBody = exactly({
  belowUsd: cents('Credit is bought when less than this is left; decimal USD, whole cents'),
  amountUsd: cents('How much is bought each time, tax not included'),
  perDayUsd: cents('The most that is bought in a day (UTC)'),
})

const FIELDS = { belowCents: 'belowUsd', amountCents: 'amountUsd', dailyCents: 'perDayUsd' } as const

const LimitsBody = Type.Object({ minimumUsd: Usd, maximumUsd: Usd })

export const AutoTopUpBody = titled('AutoTopUp', {
  isOn: Type.Boolean(),
  stopped: orNull(oneOf(STOP_REASONS), { description: 'Why it is off; null if it is on, or was never on' }),
  card: orNull(
    Type.Object({
      brand: Type.String(),
      lastFour: Type.String(),
      expMonth: Type.Integer(),
      expYear: Type.Integer(),
    }),
  ),
  amounts: orNull(Type.Object({ belowUsd: Usd, amountUsd: Usd, perDayUsd: Usd })),
  limits: Type.Object({ belowUsd: LimitsBody, amountUsd: LimitsBody, perDayUsd: LimitsBody }),
  orders: Type.Array(OrderBody, { description: 'The latest that it made, newest first' }),
})
export type AutoTopUpBody = Static<typeof AutoTopUpBody>

/** The account's auto top-up as it is now. */
export async function showTopUp({ deps, viewer }: OrderCall): Promise<AutoTopUpBody> {
  const { amounts, orders, ...rest } = await deps.orders.autoTopUp(viewer.accountId)
  const { belowCents, amountCents, dailyCents } = topUpLimits({}, deps.amounts)
  return {
    ...rest,
    amounts: amounts && amountsInUsd(amounts),
    limits: {
      belowUsd: limitsInUsd(belowCents),
      amountUsd: limitsInUsd(amountCents),
      perDayUsd: limitsInUsd(dailyCents),
    },
    orders: orders.map(orderBody),
  }
}

function limitsInUsd({ minimumCents, maximumCents }: { minimumCents: number; maximumCents: number }) {
  return { minimumUsd: formatCents(minimumCents), maximumUsd: formatCents(maximumCents) }
}

/** Turns the auto top-up on, or changes its amounts. */
export async function turnOnTopUp(call: OrderCall, body: Static<typeof AmountsBody>): Promise<AutoTopUpBody> {
  const { accountId } = call.viewer
  const amounts: TopUpAmounts = {
    belowCents: readCents(body.belowUsd, 'belowUsd'),
    amountCents: readCents(body.amountUsd, 'amountUsd'),
    dailyCents: readCents(body.perDayUsd, 'perDayUsd'),
  }
  const outcome = await call.deps.orders.turnOnTopUp({ accountId, actor: actorOf(call), ...amounts })
  if (outcome.kind === 'on') return await showTopUp(call)
  throw outcome.kind === 'out_of_range' ? outOfRange(outcome, FIELDS[outcome.field]) : refusal(outcome.kind)
}

/** Turns the auto top-up off. */
export async function turnOffTopUp(call: OrderCall): Promise<AutoTopUpBody> {
  await call.deps.orders.turnOffTopUp({ accountId: call.viewer.accountId, actor: actorOf(call) })
  return await showTopUp(call)
}

/** Opens the provider's page for saving a card. */
export async function openCardPage(call: OrderCall): Promise<{ url: string }> {
  const { accountId } = call.viewer
  const outcome = await call.deps.orders.openCardPage({ accountId, returnUrl: creditPage(call) })
  if (outcome.kind !== 'opened') throw refusal(outcome.kind)
  return { url: outcome.url }
}

/** Asks the provider whether a card was saved on its latest page. */
export async function lookForCard(call: OrderCall): Promise<AutoTopUpBody> {
  const outcome = await call.deps.orders.lookForCard(call.viewer.accountId)
  if (outcome.kind !== 'done') throw refusal(outcome.kind)
  return await showTopUp(call)
}

/** Removes the saved card, which turns the auto top-up off. */
export async function removeCard(call: OrderCall): Promise<AutoTopUpBody> {
  const outcome = await call.deps.orders.removeCard({ accountId: call.viewer.accountId, actor: actorOf(call) })
  if (outcome.kind !== 'done') throw refusal(outcome.kind)
  return await showTopUp(call)
}

const CONFLICTS = {
  not_offered: ['cards_not_offered', 'This service saves no cards.'],
  no_card: ['no_saved_card', 'Save a card first.'],
  card_expired: ['card_expired', 'The saved card has expired. Save another one.'],
} as const

function refusal(kind: keyof typeof CONFLICTS | 'provider_failed' | 'unknown_account'): GatewayError {
  if (kind === 'unknown_account') return refused('unknown_account')
  if (kind === 'provider_failed') return noAnswer()
  const [code, message] = CONFLICTS[kind]
  return new GatewayError('conflict', message, { code })
}
