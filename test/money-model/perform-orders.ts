/** The operations by which credit comes and goes: payments, refunds, chargebacks, and what administrators do. */
import { expect } from 'bun:test'
import { ADMINISTRATOR, CUSTOMER, noticeOf } from '@test/console/orders/fixture'
import { MAX_TRANSFER, MIN_TRANSFER } from '@/accounts/transfers/limits'
import { moveCredit } from '@/accounts/transfers/move-credit'
import { decideApproval } from '@/console/administration/approvals/approvals'
import { type Operation as Movement, requestIdOf } from '@/console/administration/approvals/operation'
import { requestOperation } from '@/console/administration/approvals/request-operation'
import { MAX_OPEN_ORDERS, MAX_ORDERS_PER_DAY } from '@/console/orders/limits'
import type { Order, ReversalNotice } from '@/console/orders/types'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'
import type { ModelOrder } from './account'
import { decide, enter, judge, moneyOf, move, NANO_PER_CENT, refund, reverse, reversibleOf, take } from './model'
import type { Operation } from './operations'
import { accountOf, type Play, type World } from './world'

/** A transfer is of at least as much as needs a second administrator. */
const LEAST_TRANSFER_CENTS = 5_001
const PROVIDER = { kind: 'system', name: 'sandbox' } as const

type OrderOperation = Extract<
  Operation,
  { kind: 'deposit' | 'transfer' | 'adjust' | 'move' | 'refund' | 'chargeback' | 'won' | 'judge' | 'activate' }
>

/** Does it to orders and accounts, and compares the answers. */
export async function performOrder(world: World, play: Play, chosen: OrderOperation): Promise<void> {
  switch (chosen.kind) {
    case 'deposit': {
      const order = await newOrder(world, play, chosen.who, 'deposit', chosen.cents + 500)
      if (!order) return
      const externalId = `tr_${order.orderId}`
      expect((await world.orders.confirmPayment(noticeOf(order, { externalId }))).kind).toBe('credited')
      return paid(play, order)
    }
    case 'transfer': {
      const order = await newOrder(world, play, chosen.who, 'bank_transfer', chosen.cents + LEAST_TRANSFER_CENTS)
      if (!order) return
      const { orderId, amountCents } = order
      await agreed(world, play, { kind: 'order.confirm', orderId, amountCents }, chosen.isAgreed)
      if (chosen.isAgreed) paid(play, order)
      else accountOf(play, order.accountId).openOrders++
      return
    }
    case 'adjust':
      return await performAdjustment(world, play, chosen)
    case 'move':
      return await performMove(world, play, chosen)
    case 'refund':
      return await performRefund(world, play, chosen)
    case 'chargeback':
    case 'won':
      return await performReversal(world, play, chosen)
    case 'judge':
      await world.orders.suspendOwing()
      for (const account of play.accounts.values()) judge(account)
      return
    case 'activate': {
      const accountId = play.payers[chosen.who]?.accountId ?? ''
      await world.fixture.accounts.setStatus(accountId, 'active')
      const account = accountOf(play, accountId)
      // To make active what is active is no decision.
      if (account.isSuspended) decide(account, false)
    }
  }
}

/** Undefined if the account may have no further order. */
async function newOrder(
  { orders }: World,
  play: Play,
  who: number,
  method: 'deposit' | 'bank_transfer',
  amountCents: number,
): Promise<Order | undefined> {
  const accountId = play.payers[who]?.accountId ?? ''
  const outcome = await orders.create({ accountId, method, amountCents, actor: CUSTOMER })
  const { openOrders, orders: paidOrders } = accountOf(play, accountId)
  const isFull = openOrders >= MAX_OPEN_ORDERS
  const isDayFull = openOrders + paidOrders.size >= MAX_ORDERS_PER_DAY
  expect(outcome.kind).toBe(isFull ? 'too_many_open' : isDayFull ? 'too_many_today' : 'created')
  return outcome.kind === 'created' ? outcome.order : undefined
}

function paid(play: Play, order: Order): void {
  const { accountId, orderId, amountCents } = order
  const account = accountOf(play, accountId)
  enter(account, amountCents * NANO_PER_CENT, true)
  account.orders.set(orderId, {
    paidCents: amountCents,
    refundedCents: 0,
    takenCents: 0,
    isReversible: order.method === 'deposit',
    isClosed: false,
    reversals: [],
  })
  play.orders.push(order)
}

/** One administrator asks, above what one may move alone; nothing has happened until another has agreed. */
async function agreed({ money }: World, { ada, bob }: Play, operation: Movement, isAgreed: boolean): Promise<void> {
  const asked = await requestOperation(money, administrator(ada), {
    ...{ operation, reason: 'r', requestId: requestIdOf(ada, randomId('key')) },
  })
  if (asked.kind !== 'awaiting_approval') throw new Error(asked.kind)
  const decision = isAgreed ? 'approve' : 'reject'
  const decided = { approvalId: asked.approvalId, decision, note: '' } as const
  expect(await decideApproval(money, administrator(ada), decided)).toEqual({ kind: 'own_request' })
  expect((await decideApproval(money, administrator(bob), decided)).kind).toBe('decided')
}

async function performAdjustment(
  { money }: World,
  play: Play,
  { who, cents, isTaking, mayOverdraw }: Extract<Operation, { kind: 'adjust' }>,
): Promise<void> {
  const accountId = play.payers[who]?.accountId ?? ''
  // A nano-USD more than whole cents, so that nothing can hide in rounding.
  const amountNano = (isTaking ? -1 : 1) * (cents * 1_000 + 1)
  const asked = await requestOperation(money, administrator(play.ada), {
    operation: { kind: 'credit.adjust', accountId, amountNano, allowNegative: mayOverdraw },
    ...{ reason: 'r', requestId: requestIdOf(play.ada, randomId('key')) },
  })
  const account = accountOf(play, accountId)
  const isDone = isTaking && !mayOverdraw ? take(account, -amountNano) === undefined : enter(account, amountNano, true)
  expect(asked.kind).toBe(isDone ? 'done' : 'refused')
}

/** To the other account; `isAll` moves all that can be. */
async function performMove(
  { fixture }: World,
  play: Play,
  { who, cents, isAll }: Extract<Operation, { kind: 'move' }>,
): Promise<void> {
  const [from, to] = [who, 1 - who].map((index) => [...play.accounts.keys()][index] ?? '') as [string, string]
  const giver = accountOf(play, from)
  const all = Math.min(moneyOf(giver).available - reversibleOf(giver), MAX_TRANSFER)
  const amount = isAll ? all : cents * NANO_PER_CENT
  if (amount < MIN_TRANSFER) return
  const by = { actor: { userId: play.owner, email: 'owner@example.test' } }
  const transfer = { fromAccountId: from, toAccountId: to, amount: nano(amount), key: randomId('key'), by }
  const outcome = await moveCredit(fixture.database, fixture.ledger, transfer)
  play.seen.push(`move_${outcome.kind}`)
  expect<string>(outcome.kind).toBe(move(giver, accountOf(play, to), amount))
}

async function performRefund(
  { orders }: World,
  play: Play,
  { which, cents, mayOverdraw }: Extract<Operation, { kind: 'refund' }>,
): Promise<void> {
  const found = orderAt(play, which)
  if (!found) return
  const { account, order, ofModel } = found
  const asked = { orderId: order.orderId, amountCents: cents, key: randomId('key'), reason: 'r', actor: ADMINISTRATOR }
  const outcome = await orders.refund({ ...asked, allowNegative: mayOverdraw })
  play.seen.push(`refund_${outcome.kind}`)
  expect<string>(outcome.kind).toBe(refund(account, ofModel, cents, mayOverdraw))
}

/** A chargeback of the order's payment, or the latest chargeback of it won, in whole or in part. */
async function performReversal(
  { orders }: World,
  play: Play,
  { kind, which, cents }: Extract<Operation, { kind: 'chargeback' | 'won' }>,
): Promise<void> {
  const isWon = kind === 'won'
  const found = isWon ? disputedAt(play, which) : orderAt(play, which)
  if (!found || found.order.provider === null) return
  const { account, order, ofModel } = found
  const count = ofModel.reversals.length
  const last = ofModel.reversals.at(-1)
  const notice = {
    ...({ source: `deposit:${order.provider}`, amountCents: cents, currency: 'USD', actor: PROVIDER } as const),
    kind: isWon ? 'reinstatement' : 'chargeback',
    externalId: isWon ? randomId('won') : `cb_${order.orderId}_${count}`,
    undoes: isWon ? `cb_${order.orderId}_${count - 1}` : `tr_${order.orderId}`,
  } satisfies ReversalNotice
  const before = account.isSuspended
  const change = () => {
    if (isWon && last) last.wonCents += cents
    else ofModel.reversals.push({ amountCents: cents, wonCents: 0 })
  }
  reverse(account, ofModel, change, !isWon)
  const outcome = await orders.reverse(notice)
  play.seen.push(outcome.kind, ...(account.isSuspended && !before ? ['suspended'] : []))
  expect<string>(outcome.kind).toBe(isWon ? 'reinstated' : 'reversed')
  if (!before) expect(outcome.isSuspended).toBe(account.isSuspended)
}

/** An order of which the latest chargeback is not won whole yet. */
function disputedAt(play: Play, which: number) {
  const found = play.orders.map((_, index) => orderAt(play, index)).filter((one) => one !== undefined)
  const disputed = found.filter(({ ofModel: { reversals } }) => {
    const last = reversals.at(-1)
    return last !== undefined && last.wonCents < last.amountCents
  })
  return disputed[which % Math.max(disputed.length, 1)]
}

function orderAt(play: Play, which: number) {
  const order = play.orders.at(-1 - which)
  if (!order) return undefined
  const account = accountOf(play, order.accountId)
  return { account, order, ofModel: account.orders.get(order.orderId) as ModelOrder }
}

function administrator(userId: string) {
  return { userId, accountId: 'acct_administration', email: `${userId}@example.test` }
}
