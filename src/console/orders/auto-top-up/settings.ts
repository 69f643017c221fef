/** The auto top-up of an account: its settings for members, and turning it on and off. */
import { and, desc, eq } from 'drizzle-orm'
import { formatCents } from '@/console/orders/cents'
import type { OrdersDeps } from '@/console/orders/deps'
import { MAX_DAILY_TOP_UP_CENTS, TOP_UP_BELOW_CENTS } from '@/console/orders/limits'
import { auditPerson, toOrder } from '@/console/orders/rows'
import type { Actor, Order } from '@/console/orders/types'
import { autoTopUps, orders, type SavedCard, type StopReason } from '@/db/orders-schema'

/** The threshold of the balance, the amount to buy, and the maximum in a day (UTC). Whole cents. */
export type TopUpAmounts = { belowCents: number; amountCents: number; dailyCents: number }

export type AutoTopUp = {
  card: Pick<SavedCard, 'brand' | 'lastFour' | 'expMonth' | 'expYear'> | null
  /** Null before the first setting. */
  amounts: TopUpAmounts | null
  isOn: boolean
  /** The reason why the auto top-up is off. */
  stopped: StopReason | null
  /** The latest auto top-ups, newest first. */
  orders: Order[]
}

const LISTED = 5

/** The auto top-up of an account. It has no card if the provider saves none. */
export async function readAutoTopUp(
  { database, methods: { deposit } }: OrdersDeps,
  accountId: string,
): Promise<AutoTopUp> {
  const [row] = await database.db.select().from(autoTopUps).where(eq(autoTopUps.accountId, accountId))
  const latest = await database.db
    .select()
    .from(orders)
    .where(and(eq(orders.accountId, accountId), eq(orders.origin, 'auto_top_up')))
    .orderBy(desc(orders.createdAt))
    .limit(LISTED)
  const card = deposit?.cards && row?.provider === deposit.name ? row.card : null
  const { belowCents, amountCents, dailyCents } = row ?? {}
  return {
    card: card && { brand: card.brand, lastFour: card.lastFour, expMonth: card.expMonth, expYear: card.expYear },
    amounts: belowCents && amountCents && dailyCents ? { belowCents, amountCents, dailyCents } : null,
    isOn: card !== null && (row?.isOn ?? false),
    stopped: row?.stopped ?? null,
    orders: latest.map(toOrder),
  }
}

type TurnOnOutcome =
  | { kind: 'on' }
  | { kind: 'not_offered' | 'no_card' | 'card_expired' }
  | { kind: 'out_of_range'; field: keyof TopUpAmounts; minimumCents: number; maximumCents: number }

/** Turns the auto top-up on, or changes its amounts. The person agrees to charges without further confirmation. */
export async function turnOnTopUp(
  deps: OrdersDeps,
  { accountId, actor, ...amounts }: TopUpAmounts & { accountId: string; actor: Actor },
): Promise<TurnOnOutcome> {
  const { deposit } = deps.methods
  if (!deposit?.cards) return { kind: 'not_offered' }
  const fault = faultOf(amounts, deps.amounts)
  if (fault) return fault
  const isIt = eq(autoTopUps.accountId, accountId)
  return await deps.database.db.transaction(async (transaction) => {
    const [row] = await transaction.select().from(autoTopUps).where(isIt).for('update')
    if (!row?.card || row.provider !== deposit.name) return { kind: 'no_card' }
    const now = deps.clock.now()
    if (now >= endOf(row.card)) return { kind: 'card_expired' }
    const set = { ...amounts, isOn: true, onSince: new Date(now), stopped: null }
    await transaction.update(autoTopUps).set(set).where(isIt)
    const { brand, lastFour } = row.card
    const details = { ...amountsInUsd(amounts), brand, lastFour }
    await auditPerson(transaction, { actor, action: 'auto_top_up.on', subject: accountId, accountId, details })
    return { kind: 'on' }
  })
}

/** Turns the auto top-up off. The card stays saved; a charge that has begun continues. */
export async function turnOffTopUp(
  { database }: OrdersDeps,
  { accountId, actor }: { accountId: string; actor: Actor },
): Promise<void> {
  await database.db.transaction(async (transaction) => {
    const isOn = and(eq(autoTopUps.accountId, accountId), eq(autoTopUps.isOn, true))
    const set = { isOn: false, stopped: 'person' } as const
    const stopped = await transaction.update(autoTopUps).set(set).where(isOn).returning({ id: autoTopUps.accountId })
    if (stopped.length === 0) return
    await auditPerson(transaction, { actor, action: 'auto_top_up.off', subject: accountId, accountId, details: {} })
  })
}

/** The limits of each amount. One charge must lift an empty balance over the threshold. The daily limit must allow one charge. */
export function topUpLimits({ belowCents, amountCents }: Partial<TopUpAmounts>, orderLimits: OrdersDeps['amounts']) {
  const { minimumCents, maximumCents } = orderLimits
  const { minimum, maximum } = TOP_UP_BELOW_CENTS
  return {
    belowCents: { minimumCents: minimum, maximumCents: Math.min(maximum, maximumCents) },
    amountCents: { minimumCents: Math.max(minimumCents, belowCents ?? 0), maximumCents },
    dailyCents: { minimumCents: amountCents ?? minimumCents, maximumCents: MAX_DAILY_TOP_UP_CENTS },
  }
}

function faultOf(
  amounts: TopUpAmounts,
  orderLimits: OrdersDeps['amounts'],
): Extract<TurnOnOutcome, { kind: 'out_of_range' }> | undefined {
  const limits = topUpLimits(amounts, orderLimits)
  for (const field of ['belowCents', 'amountCents', 'dailyCents'] as const) {
    const { minimumCents, maximumCents } = limits[field]
    const isWithin = amounts[field] >= minimumCents && amounts[field] <= maximumCents
    if (!isWithin) return { kind: 'out_of_range', field, minimumCents, maximumCents }
  }
  return undefined
}

/** The first moment after the card's last month, in UTC. */
function endOf({ expYear, expMonth }: SavedCard): number {
  return Date.UTC(expYear, expMonth)
}

/** The amounts as decimal USD, with the field names of the API. */
export function amountsInUsd({ belowCents, amountCents, dailyCents }: TopUpAmounts) {
  return {
    belowUsd: formatCents(belowCents),
    amountUsd: formatCents(amountCents),
    perDayUsd: formatCents(dailyCents),
  }
}
