/** The routes of an account's auto top-up: its saved card, and when that is charged. */
import { type Static, Type } from '@sinclair/typebox'
import { GatewayError, invalidRequest } from '@/chat/error'
import { type AutoTopUp, type TopUpAmounts, topUpLimits } from '@/console/orders/auto-top-up/settings'
import { formatCents, parseCents } from '@/console/orders/cents'
import { STOP_REASONS } from '@/db/orders-schema'
import { titled } from '@/http/openapi/titled'
import { oneOf, orNull } from '@/lib/schemas'
import { refused } from '@/people/keys/refusals'
import type { Caller } from './changed-by'
import { ACCOUNT_PREFIX, guarded } from './guard'
import { OrderBody, orderBody } from './order-bodies'
import { actorOf, noAnswer, type OrderRouteDeps } from './order-routes'
import { exactly, NoFields, DecimalUsd as Usd } from './wire'

const amount = (description: string) => Type.String({ pattern: '^\\d{1,8}(\\.\\d{1,2})?$', maxLength: 11, description })

const AmountsBody = exactly({
  belowUsd: amount('Credit is bought when less than this is left; decimal USD, whole cents'),
  amountUsd: amount('How much is bought each time, tax not included'),
  perDayUsd: amount('The most that is bought in a day (UTC)'),
})

const FIELDS = { belowCents: 'belowUsd', amountCents: 'amountUsd', dailyCents: 'perDayUsd' } as const

const LimitsBody = Type.Object({ minimumUsd: Usd, maximumUsd: Usd })

const AutoTopUpBody = titled('AutoTopUp', {
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

/** Mounts `/dashboard/api/a/:accountId/auto-top-up`. */
export function autoTopUpRoutes(deps: OrderRouteDeps) {
  return guarded(deps, 'auto-top-up-routes', `${ACCOUNT_PREFIX}/auto-top-up`)
    .get('', ({ viewer }) => show(deps, viewer.accountId), {
      may: 'billing.read',
      response: AutoTopUpBody,
      detail: {
        summary: 'Get the auto top-up',
        description: 'Its card, amounts and latest orders. Without a card it is off.',
      },
    })
    .put('', (caller) => turnOn(deps, caller, caller.body), {
      may: { permission: 'billing.pay', isProved: true },
      body: AmountsBody,
      response: AutoTopUpBody,
      detail: {
        summary: 'Turn the auto top-up on',
        description:
          'Or change its amounts. One agrees to charges of the saved card without being asked again. If the balance is below ' +
          '`belowUsd` already, the card is charged at once. Needs a fresh proof of who one is (403 `step_up_required`).',
      },
    })
    .post('/off', (caller) => turnOff(deps, caller), {
      may: 'billing.pay',
      body: NoFields,
      response: AutoTopUpBody,
      detail: { summary: 'Turn the auto top-up off', description: 'The card stays saved.' },
    })
    .post('/card', (caller) => openPage(deps, caller), {
      may: 'billing.pay',
      body: NoFields,
      response: Type.Object({ url: Type.String({ description: "The provider's page" }) }),
      detail: {
        summary: 'Open a page to save a card on',
        description: "It is a page of the payment provider. A new card takes the former one's place.",
      },
    })
    .post('/card/look', (caller) => look(deps, caller), {
      may: 'billing.pay',
      body: NoFields,
      response: AutoTopUpBody,
      detail: {
        summary: 'Look whether a card was saved',
        description: 'Asks the payment provider about the latest page, in case its message was lost.',
      },
    })
    .delete('/card', (caller) => remove(deps, caller), {
      may: 'billing.pay',
      response: AutoTopUpBody,
      detail: { summary: 'Remove the saved card', description: 'Which turns the auto top-up off.' },
    })
}

async function show({ orders, amounts: orderLimits }: OrderRouteDeps, accountId: string): Promise<AutoTopUpBody> {
  return { ...bodyOf(await orders.autoTopUp(accountId)), limits: limitsOf(orderLimits) }
}

function bodyOf({ amounts, orders, ...rest }: AutoTopUp): Omit<AutoTopUpBody, 'limits'> {
  const shown = amounts && {
    belowUsd: formatCents(amounts.belowCents),
    amountUsd: formatCents(amounts.amountCents),
    perDayUsd: formatCents(amounts.dailyCents),
  }
  return { ...rest, amounts: shown, orders: orders.map(orderBody) }
}

function limitsOf(orderLimits: OrderRouteDeps['amounts']): AutoTopUpBody['limits'] {
  const limits = topUpLimits({}, orderLimits)
  const inUsd = ({ minimumCents, maximumCents }: (typeof limits)['belowCents']) => ({
    minimumUsd: formatCents(minimumCents),
    maximumUsd: formatCents(maximumCents),
  })
  return {
    belowUsd: inUsd(limits.belowCents),
    amountUsd: inUsd(limits.amountCents),
    perDayUsd: inUsd(limits.dailyCents),
  }
}

async function turnOn(deps: OrderRouteDeps, caller: Caller, body: typeof AmountsBody.static): Promise<AutoTopUpBody> {
  const { accountId } = caller.viewer
  const amounts: TopUpAmounts = {
    belowCents: centsOf(body, 'belowUsd'),
    amountCents: centsOf(body, 'amountUsd'),
    dailyCents: centsOf(body, 'perDayUsd'),
  }
  const outcome = await deps.orders.turnOnTopUp({ accountId, actor: actorOf(caller), ...amounts })
  switch (outcome.kind) {
    case 'on':
      return show(deps, accountId)
    case 'not_offered':
      throw notOffered()
    case 'no_card':
      throw new GatewayError('conflict', 'Save a card first.', { code: 'no_saved_card' })
    case 'card_expired':
      throw new GatewayError('conflict', 'The saved card has expired. Save another one.', { code: 'card_expired' })
    default: {
      const [minimum, maximum] = [outcome.minimumCents, outcome.maximumCents].map(formatCents)
      throw invalidRequest(`The amount must be from ${minimum} to ${maximum} USD.`, FIELDS[outcome.field])
    }
  }
}

function centsOf(body: typeof AmountsBody.static, field: keyof typeof AmountsBody.static): number {
  const cents = parseCents(body[field])
  if (cents === undefined) throw invalidRequest('The amount must be USD with at most two decimals.', field)
  return cents
}

async function turnOff(deps: OrderRouteDeps, caller: Caller): Promise<AutoTopUpBody> {
  const { accountId } = caller.viewer
  await deps.orders.turnOffTopUp({ accountId, actor: actorOf(caller) })
  return show(deps, accountId)
}

async function openPage(deps: OrderRouteDeps, { request, viewer: { accountId } }: Caller): Promise<{ url: string }> {
  const returnUrl = `${deps.publicUrl ?? new URL(request.url).origin}/dashboard/a/${accountId}/credit`
  const outcome = await deps.orders.openCardPage({ accountId, returnUrl })
  if (outcome.kind !== 'opened') throw cardError(outcome.kind)
  return { url: outcome.url }
}

async function look(deps: OrderRouteDeps, { viewer: { accountId } }: Caller): Promise<AutoTopUpBody> {
  const outcome = await deps.orders.lookForCard(accountId)
  if (outcome.kind !== 'done') throw cardError(outcome.kind)
  return show(deps, accountId)
}

async function remove(deps: OrderRouteDeps, caller: Caller): Promise<AutoTopUpBody> {
  const { accountId } = caller.viewer
  const outcome = await deps.orders.removeCard({ accountId, actor: actorOf(caller) })
  if (outcome.kind !== 'done') throw cardError(outcome.kind)
  return show(deps, accountId)
}

function cardError(kind: 'not_offered' | 'provider_failed' | 'unknown_account'): GatewayError {
  if (kind === 'unknown_account') return refused('unknown_account')
  return kind === 'not_offered' ? notOffered() : noAnswer()
}

function notOffered(): GatewayError {
  return new GatewayError('conflict', 'This service saves no cards.', { code: 'cards_not_offered' })
}
