/** Saves the card of an account by the provider's page, and replaces, renews and removes it. */
import { and, eq, sql } from 'drizzle-orm'
import { recordAudit } from '@/accounts/audit'
import { lockAccount } from '@/accounts/in-order'
import type { DepositEvent } from '@/console/orders/deposits/deposit-provider'
import type { OrdersDeps } from '@/console/orders/deps'
import { auditPerson } from '@/console/orders/rows'
import type { Actor } from '@/console/orders/types'
import { describeFailure } from '@/db/failure'
import { autoTopUps, type SavedCard } from '@/db/orders-schema'
import { accounts } from '@/db/schema'
import { stopByItself } from './stop'

type OwnAct = { accountId: string; actor: Actor }
type CardOutcome = { kind: 'done' } | { kind: 'not_offered' | 'provider_failed' | 'unknown_account' }

/** Opens the provider's page on which the customer saves a card. */
export async function openCardPage(
  deps: OrdersDeps,
  { accountId, returnUrl }: { accountId: string; returnUrl: string },
): Promise<{ kind: 'opened'; url: string } | Exclude<CardOutcome, { kind: 'done' }>> {
  const { name, cards } = deps.methods.deposit ?? {}
  if (name === undefined || !cards) return { kind: 'not_offered' }
  const { db } = deps.database
  const [account] = await db.select({ email: accounts.email }).from(accounts).where(eq(accounts.id, accountId))
  if (!account) return { kind: 'unknown_account' }
  const [row] = await db.select().from(autoTopUps).where(eq(autoTopUps.accountId, accountId))
  const customer = row?.provider === name ? row.card?.customer : undefined
  try {
    const { pageId: cardPage, url } = await cards.openPage({ accountId, email: account.email, customer, returnUrl })
    const set = { cardPage }
    await db
      .insert(autoTopUps)
      .values({ accountId, provider: name, ...set })
      .onConflictDoUpdate({ target: autoTopUps.accountId, set })
    return { kind: 'opened', url }
  } catch (error) {
    deps.logger.warn('card_page_not_opened', { accountId, provider: name, reason: describeFailure(error) })
    return { kind: 'provider_failed' }
  }
}

/** Asks the provider for the card saved on the latest page, in case its event was lost. */
export async function lookForCard(deps: OrdersDeps, accountId: string): Promise<CardOutcome> {
  const { name, cards } = deps.methods.deposit ?? {}
  if (name === undefined || !cards) return { kind: 'not_offered' }
  const [row] = await deps.database.db.select().from(autoTopUps).where(eq(autoTopUps.accountId, accountId))
  if (!row?.cardPage) return { kind: 'done' }
  try {
    const saved = await cards.savedOn(row.cardPage)
    // The page is only used for the account that opened it.
    if (saved?.accountId === accountId) await noteSavedCard(deps, name, saved)
    return { kind: 'done' }
  } catch (error) {
    deps.logger.warn('saved_card_not_found', { accountId, provider: name, reason: describeFailure(error) })
    return { kind: 'provider_failed' }
  }
}

/** Stores a saved card. Repeated calls change nothing, and an older card does not replace a newer one. */
export async function noteSavedCard(
  deps: OrdersDeps,
  name: string,
  { accountId, card, savedAt }: Extract<DepositEvent, { kind: 'card_saved' }>,
): Promise<void> {
  const former = await deps.database.db.transaction(async (transaction) => {
    if (!(await lockAccount(transaction, accountId))) return undefined
    const [row] = await transaction.select().from(autoTopUps).where(eq(autoTopUps.accountId, accountId)).for('update')
    if (row?.cardSavedAt && row.cardSavedAt >= savedAt) return undefined
    const set = { provider: name, card, cardSavedAt: savedAt, cardPage: null }
    await transaction
      .insert(autoTopUps)
      .values({ accountId, ...set })
      .onConflictDoUpdate({ target: autoTopUps.accountId, set })
    await recordAudit(transaction, {
      actor: { userId: null, email: `deposit:${name}` },
      action: 'auto_top_up.card_saved',
      subject: accountId,
      accountId,
      details: { brand: card.brand, lastFour: card.lastFour },
    })
    return row?.provider === name ? row.card?.id : undefined
  })
  if (former === undefined || former === card.id) return
  await deps.methods.deposit?.cards?.remove(former).catch((error: unknown) => {
    deps.logger.warn('former_card_not_removed', { accountId, provider: name, reason: describeFailure(error) })
  })
}

/** Removes the card here and at the provider, and turns the auto top-up off. A charge that has begun continues. */
export async function removeCard(deps: OrdersDeps, { accountId, actor }: OwnAct): Promise<CardOutcome> {
  const { name, cards } = deps.methods.deposit ?? {}
  const isIt = eq(autoTopUps.accountId, accountId)
  const card = await deps.database.db.transaction(async (transaction) => {
    const [row] = await transaction.select().from(autoTopUps).where(isIt).for('update')
    if (!row?.card) return undefined
    await transaction.update(autoTopUps).set({ isOn: false, stopped: 'card_removed' }).where(isIt)
    const { brand, lastFour } = row.card
    const details = { brand, lastFour }
    await auditPerson(transaction, {
      ...{ actor, action: 'auto_top_up.card_remove', subject: accountId, accountId, details },
    })
    return { ...row.card, provider: row.provider }
  })
  if (!card) return { kind: 'done' }
  try {
    // A card at another provider can't be removed there, so only our record of it is deleted.
    if (cards && card.provider === name) await cards.remove(card.id)
  } catch (error) {
    deps.logger.warn('card_not_removed', { accountId, provider: name, reason: describeFailure(error) })
    return { kind: 'provider_failed' }
  }
  await deps.database.db
    .update(autoTopUps)
    .set({ card: null })
    .where(and(isIt, hasCard(card.id)))
  return { kind: 'done' }
}

/** Called if the provider no longer has the card. Turns the auto top-up off, and mails the members who may pay. */
export async function noteGoneCard({ database }: OrdersDeps, name: string, cardId: string): Promise<void> {
  await database.db.transaction(async (transaction) => {
    const isIt = and(eq(autoTopUps.provider, name), hasCard(cardId))
    const [row] = await transaction.select().from(autoTopUps).where(isIt).for('update')
    if (!row) return
    await stopByItself(transaction, name, row.accountId, 'card_gone')
    await transaction.update(autoTopUps).set({ card: null }).where(eq(autoTopUps.accountId, row.accountId))
  })
}

/** The card has a new expiry date. */
export async function noteRenewedCard(
  { database }: OrdersDeps,
  name: string,
  { cardId, expMonth, expYear }: Extract<DepositEvent, { kind: 'card_renewed' }>,
): Promise<void> {
  const end: Pick<SavedCard, 'expMonth' | 'expYear'> = { expMonth, expYear }
  await database.db
    .update(autoTopUps)
    .set({ card: sql`${autoTopUps.card} || ${JSON.stringify(end)}::jsonb` })
    .where(and(eq(autoTopUps.provider, name), hasCard(cardId)))
}

function hasCard(cardId: string) {
  return sql`${autoTopUps.card} ->> 'id' = ${cardId}`
}
