/** Buys credit with the saved card of each account whose balance is below its threshold: one order, one charge. */
import { eq } from 'drizzle-orm'
import { insertOrder } from '@/console/orders/create'
import { type AppliedDeposit, applyDeposit } from '@/console/orders/deposits/apply-event'
import type { CardCharge, SavedCards } from '@/console/orders/deposits/deposit-provider'
import type { OrdersDeps } from '@/console/orders/deps'
import { appendEvent, type OrderRow } from '@/console/orders/rows'
import type { Transaction } from '@/db/client'
import { describeFailure } from '@/db/failure'
import { autoTopUps } from '@/db/orders-schema'
import { assert } from '@/lib/assert'
import { withDeadline } from '@/lib/deadline'
import { decide, readStandings } from './standing'
import { stopByItself } from './stop'

/** Time after which the provider is asked about a charge without a response. */
const FIRST_LOOK_MS = 60_000
const ANSWER_TIMEOUT_MS = 15_000
const PAGE_SIZE = 200
/** Number of accounts that are charged concurrently. */
const AT_ONCE = 5

/** Checks every account with an auto top-up once. Returns the number of charges that it began. */
export async function topUpDue(deps: OrdersDeps): Promise<number> {
  const { name, cards } = deps.methods.deposit ?? {}
  if (name === undefined || !cards) return 0
  let begun = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await readStandings(deps.database.db, name, deps.clock.now(), { after, limit: PAGE_SIZE })
    const due = page.filter((standing) => decide(standing, deps.clock.now()) !== 'wait')
    for (let from = 0; from < due.length; from += AT_ONCE) {
      const some = due.slice(from, from + AT_ONCE)
      const orders = await Promise.all(some.map(({ accountId }) => topUp(deps, { name, cards }, accountId)))
      begun += orders.filter((isBegun) => isBegun).length
    }
    after = page.length === PAGE_SIZE ? page.at(-1)?.accountId : undefined
  }
  return begun
}

/** The provider of the saved cards. */
type Provider = { name: string; cards: SavedCards }

async function topUp(deps: OrdersDeps, { name, cards }: Provider, accountId: string): Promise<boolean> {
  const order = await deps.database.db.transaction((transaction) => begin(deps, transaction, name, accountId))
  if (!order) return false
  try {
    await conclude(deps, name, order, (charge) => cards.charge(charge))
  } catch (error) {
    deps.logger.warn('saved_card_not_charged', { orderId: order.id, provider: name, reason: describeFailure(error) })
  }
  return true
}

/** Creates the order for a balance below its threshold. Gateways that see the same balance wait for the lock on the account's row. */
async function begin(
  deps: OrdersDeps,
  transaction: Transaction,
  name: string,
  accountId: string,
): Promise<OrderRow | undefined> {
  const isIt = eq(autoTopUps.accountId, accountId)
  const [row] = await transaction.select().from(autoTopUps).where(isIt).for('no key update')
  const nowMs = deps.clock.now()
  const [standing] = await readStandings(transaction, name, nowMs, { accountId })
  const decision = standing ? decide(standing, nowMs) : 'wait'
  if (decision === 'wait' || !row?.card || row.amountCents === null) return undefined
  if (decision !== 'charge') {
    await stopByItself(transaction, name, accountId, decision)
    return undefined
  }
  const now = new Date(nowMs)
  const { amountCents, card } = row
  const lookAt = new Date(nowMs + FIRST_LOOK_MS)
  const order = await insertOrder(deps, transaction, { accountId, method: 'deposit', amountCents }, now, {
    ...{ origin: 'auto_top_up', card, lookAt },
  })
  const actor = { kind: 'system', name: 'auto top-up' } as const
  await appendEvent(transaction, order, { event: { kind: 'created', amountCents }, actor, now })
  return order
}

/** Repeats a charge whose answer was lost. If the top-up was turned off meanwhile, it only looks for the charge. */
export async function recoverCharge(
  deps: OrdersDeps,
  { name, cards }: Provider,
  order: OrderRow,
): Promise<AppliedDeposit[]> {
  const [row] = await deps.database.db.select().from(autoTopUps).where(eq(autoTopUps.accountId, order.accountId))
  const isWanted = row?.isOn === true && order.state === 'pending' && row.card?.id === order.card?.id
  return conclude(deps, name, order, (charge) => (isWanted ? cards.charge(charge) : cards.find(charge)))
}

async function conclude(
  deps: OrdersDeps,
  name: string,
  { id: orderId, reference, amountCents, card, createdAt: since }: OrderRow,
  ask: (charge: CardCharge) => ReturnType<SavedCards['find']>,
): Promise<AppliedDeposit[]> {
  assert(card, 'an auto top-up has a card')
  const asked = ask({ orderId, reference, amountCents, card, since })
  const events = await withDeadline(asked, ANSWER_TIMEOUT_MS, () => {
    throw new Error(`no answer in ${ANSWER_TIMEOUT_MS} ms`)
  })
  const outcomes: AppliedDeposit[] = []
  for (const event of events ?? [{ kind: 'charge_failed', orderId, why: 'declined', code: 'not_made' } as const])
    outcomes.push(await applyDeposit(deps, name, event))
  return outcomes
}
