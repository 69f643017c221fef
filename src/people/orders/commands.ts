/** Operator commands for reading orders of credit: list, search, and one order with its events, payments and reversals. */
import { type Command, OPERAND, operand, optional, type Values } from '@/cli/command'
import { fail } from '@/cli/failure'
import { PAGE_OPTIONS, printPage, readPage, shownOrder, usdOfCents } from '@/cli/pages'
import type { Services } from '@/cli/services'
import { readChoice, readText } from '@/cli/values'
import { getOrder, searchOrders } from '@/console/orders/search'
import type { FoundOrder, OrderDetails, OrderSearch } from '@/console/orders/types'
import type { Database } from '@/db/client'
import { describeFailure } from '@/db/failure'
import { ORDER_STATES } from '@/db/orders-schema'

const FILTERS = { state: optional('STATE', `only ${ORDER_STATES.join(', ')}`), ...PAGE_OPTIONS }

/** Commands that list orders. */
export const SEARCH_COMMANDS: readonly Command[] = [
  {
    words: 'order list',
    help: 'lists orders of credit, newest first',
    options: { account: optional('ID', 'only of this account'), ...FILTERS },
    prepare: (values) => list(values, values.account === undefined ? {} : { accountId: readText(values, 'account') }),
  },
  {
    words: 'order search',
    help: "finds orders by the beginning of their reference or a part of their account's address",
    operand: operand('REFERENCE|EMAIL', 'a reference in any writing, or an address with its @'),
    options: FILTERS,
    prepare(values) {
      const text = readText(values, OPERAND)
      return list(values, text.includes('@') ? { email: text } : { reference: text })
    },
  },
]

export const SHOW_COMMAND: Command = {
  words: 'order show',
  help: 'shows one order with its events, payments and reversals',
  operand: operand('ID|REFERENCE', 'the order, or its whole reference'),
  options: {},
  prepare(values) {
    const text = readText(values, OPERAND)
    return async ({ database }) => {
      const order = await findOrder(database, text)
      const { account, events, payments, reversals } = order
      return {
        output: {
          ...shownOrder(order),
          name: account.name,
          email: account.email,
          claimNote: order.claimNote,
          paidAt: order.paidAt,
          refundedUsd: usdOfCents(order.refundedCents),
          chargedBackUsd: usdOfCents(order.chargedBackCents),
          events: events.map(({ kind, state, actor, note, createdAt }) => ({ kind, state, actor, note, createdAt })),
          payments: payments.map(({ paymentId, source, externalId, amountCents, currency, state, receivedAt }) => ({
            paymentId,
            source,
            externalId,
            amount: usdOfCents(amountCents),
            currency,
            state,
            receivedAt,
          })),
          reversals: reversals.map(({ reversalId, kind, amountCents, currency, state, receivedAt }) => ({
            reversalId,
            kind,
            amount: usdOfCents(amountCents),
            currency,
            state,
            receivedAt,
          })),
        },
      }
    }
  },
}

export const SETTLE_COMMAND: Command = {
  words: 'order settle',
  help: 'asks the provider of a deposit for its state, and books missing events',
  operand: operand('ID|REFERENCE', 'the order, or its whole reference'),
  options: {},
  prepare(values) {
    const text = readText(values, OPERAND)
    return (services) => settle(services, text)
  },
}

async function settle(services: Services, text: string) {
  const { database, topUps } = services
  const { orderId } = await findOrder(database, text)
  const outcome = await topUps.orders
    .settle(orderId)
    .catch((error: unknown) => fail(`no answer: ${describeFailure(error)}`))
  if (outcome.kind !== 'settled') {
    return fail(`order ${orderId} has no payment that the configured DEPOSIT_PROVIDER can be asked about`)
  }
  const order = await findOrder(database, orderId)
  return { output: { ...shownOrder(order), outcomes: outcome.outcomes.map(({ kind }) => kind) } }
}

async function findOrder(database: Database, text: string): Promise<OrderDetails> {
  const { items } = text.startsWith('order_') ? { items: [] } : await searchOrders({ database }, { reference: text })
  if (items.length > 1) fail(`several orders begin with ${text}; order search lists them`)
  const order = await getOrder({ database }, items[0]?.orderId ?? text, undefined)
  return order ?? fail(`no order ${text}`)
}

function list(values: Values, filter: Partial<OrderSearch>) {
  const state = readChoice(values, 'state', ORDER_STATES)
  const search = { ...readPage(values), ...filter, ...(state && { state }) }
  return async ({ database }: Services) => printPage('orders', await searchOrders({ database }, search), toRow)
}

function toRow(order: FoundOrder) {
  return { ...shownOrder(order), email: order.account.email }
}
