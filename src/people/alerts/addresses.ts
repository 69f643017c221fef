/** Addresses, besides the members', that get an account's alerts. Each is active only after somebody confirmed it by a mailed link. */
import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm'
import { dropWaitingAlerts, isAlertAddress } from '@/accounts/alerts/end-alerts'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { lockAccount } from '@/accounts/in-order'
import { GatewayError } from '@/chat/error'
import { invalidLink, mailNotConfigured } from '@/console/auth/failure'
import { alertQuestionsBy, alertQuestionsTo } from '@/console/auth/limits'
import { linkFor } from '@/console/auth/visitor'
import { alertAddresses } from '@/db/alert-schema'
import { users } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { accounts } from '@/db/schema'
import { randomBase62, sha256Hex } from '@/lib/ids'
import type { OperationCaller } from '@/people/operation'
import type { SessionDeps } from '@/people/sign-in/visitor'
import { CONFIRM_ALERTS_DAYS, MAX_ALERT_ADDRESSES } from './fields'

/** 32 base-62 characters have 190 bits. */
const TOKEN_LENGTH = 32
const DAY_MS = 86_400_000

type AlertAddress = { email: string; isConfirmed: boolean }

export type AlertQuestion = {
  email: string
  accountName: string
  /** Name of the person who last sent the link; null: an operator. */
  askedBy: string | null
}

type Call = OperationCaller & { deps: SessionDeps }
type Changed = { accountId: string; by: ChangedBy }

/** The addresses of an account, oldest first. */
export async function listAlertAddresses(db: Database['db'] | Transaction, accountId: string): Promise<AlertAddress[]> {
  return await db
    .select({ email: alertAddresses.email, isConfirmed: sql<boolean>`${alertAddresses.confirmedAt} IS NOT NULL` })
    .from(alertAddresses)
    .where(eq(alertAddresses.accountId, accountId))
    .orderBy(asc(alertAddresses.createdAt), asc(alertAddresses.email))
}

/** Adds an address, unconfirmed, and mails it a confirmation link. Throws if the address is refused. */
export async function addAlertAddress(call: Call, address: string): Promise<void> {
  await mailLink(call, 'alert_address.add', address, (email, present) => {
    if (present.some((one) => one.email === email))
      throw conflict('already_there', 'This address is in the list already.')
    if (present.length >= MAX_ALERT_ADDRESSES)
      throw conflict('too_many', `An account has at most ${MAX_ALERT_ADDRESSES} further addresses. Remove one first.`)
  })
}

/** Mails a new link to an unconfirmed address; the former link no longer works. Throws if refused. */
export async function askAlertAddressAgain(call: Call, address: string): Promise<void> {
  await mailLink(call, 'alert_address.ask_again', address, (email, present) => {
    const found = present.find((one) => one.email === email)
    if (!found) throw new GatewayError('not_found', 'This address is not in the list.', { param: 'email' })
    if (found.isConfirmed) throw conflict('already_confirmed', 'This address is confirmed already.')
  })
}

/** Stores the link's hash and mails the link. The mail counts against the limits, unless the address is refused. */
async function mailLink(
  { deps, viewer: { accountId, name }, by, request }: Call,
  action: string,
  address: string,
  check: (email: string, present: readonly AlertAddress[]) => void,
): Promise<void> {
  const { database, throttle, mails } = deps.auth.parts
  if (!mails) throw mailNotConfigured('Ask its operator to add the address.')
  const email = address.toLowerCase()
  const limits = [alertQuestionsBy(accountId), ...alertQuestionsTo(email)]
  await throttle.attempt(...limits)
  const write = database.db.transaction(async (transaction) => {
    const account = await lockAccount(transaction, accountId)
    if (!account) throw new GatewayError('not_found', 'There is no such account.')
    check(email, await listAlertAddresses(transaction, accountId))
    const token = randomBase62(TOKEN_LENGTH)
    const facts = { accountName: account.name, askedBy: name, days: CONFIRM_ALERTS_DAYS }
    const link = { ...linkFor({ request }, token), accountId }
    await mails.post(transaction, email, { kind: 'confirm_alerts', facts }, link)
    const confirmUntil = new Date(Date.now() + CONFIRM_ALERTS_DAYS * DAY_MS)
    const asked = { askedBy: by.actor.userId, tokenHash: sha256Hex(token), confirmUntil }
    await transaction
      .insert(alertAddresses)
      .values({ accountId, email, ...asked })
      .onConflictDoUpdate({ target: [alertAddresses.accountId, alertAddresses.email], set: asked })
    await note(transaction, { accountId, by }, action, email)
  })
  await write.catch(async (error: unknown) => {
    if (error instanceof GatewayError) await throttle.giveBack(...limits)
    throw error
  })
  mails.hurry()
}

/** Removes an address and its pending alerts. A repeated call changes nothing. */
export async function removeAlertAddress({ db }: Database, { accountId, by }: Changed, address: string): Promise<void> {
  const email = address.toLowerCase()
  await db.transaction(async (transaction) => {
    await lockAccount(transaction, accountId)
    const removed = await transaction.delete(alertAddresses).where(isAlertAddress(accountId, email)).returning()
    if (removed.length === 0) return
    await dropWaitingAlerts(transaction, accountId, email)
    await note(transaction, { accountId, by }, 'alert_address.remove', email)
  })
}

/** Replaces an account's addresses. An operator vouches for them, so they need no confirmation. */
export async function setAlertAddresses(
  { db }: Database,
  { accountId, by }: Changed,
  addresses: readonly string[],
): Promise<void> {
  const emails = [...new Set(addresses.map((address) => address.toLowerCase()))]
  await db.transaction(async (transaction) => {
    await lockAccount(transaction, accountId)
    await transaction.delete(alertAddresses).where(eq(alertAddresses.accountId, accountId))
    const rows = emails.map((email) => ({ accountId, email, confirmedAt: new Date() }))
    if (rows.length > 0) await transaction.insert(alertAddresses).values(rows)
    await note(transaction, { accountId, by }, 'alert_address.set', emails.join(', '))
  })
}

/** The content of a link's page. Throws if the link is unknown, used, replaced or expired. */
export async function readAlertQuestion(db: Database['db'] | Transaction, token: string): Promise<AlertQuestion> {
  const { accountId: _, ...question } = await findQuestion(db, token)
  return question
}

/** Confirms an address by its link. From then on it gets alerts. Throws as {@link readAlertQuestion} does. */
export async function confirmAlertAddress(
  { db }: Database,
  token: string,
  by: Omit<ChangedBy, 'actor'>,
): Promise<AlertQuestion> {
  return await db.transaction(async (transaction) => {
    const { accountId, ...question } = await findQuestion(transaction, token)
    const { email } = question
    const confirmed = await transaction
      .update(alertAddresses)
      .set({ confirmedAt: new Date(), tokenHash: null, confirmUntil: null })
      .where(and(isAlertAddress(accountId, email), eq(alertAddresses.tokenHash, sha256Hex(token))))
      .returning()
    if (confirmed.length === 0) throw invalidLink()
    const actor = { userId: null, email }
    await note(transaction, { accountId, by: { ...by, actor } }, 'alert_address.confirm', email)
    return question
  })
}

async function findQuestion(db: Database['db'] | Transaction, token: string) {
  const { accountId, email } = alertAddresses
  const isOpen = and(isNull(alertAddresses.confirmedAt), gt(alertAddresses.confirmUntil, sql`now()`))
  const [row] = await db
    .select({ accountId, email, accountName: accounts.name, askedBy: users.name })
    .from(alertAddresses)
    .innerJoin(accounts, eq(accounts.id, accountId))
    .leftJoin(users, eq(users.id, alertAddresses.askedBy))
    .where(and(eq(alertAddresses.tokenHash, sha256Hex(token)), isOpen))
  if (!row) throw invalidLink()
  return row
}

async function note(
  transaction: Transaction,
  { accountId, by }: Changed,
  action: string,
  email: string,
): Promise<void> {
  await recordAudit(transaction, { ...by, action, subject: accountId, accountId, details: { email } })
}

function conflict(code: string, message: string): GatewayError {
  return new GatewayError('conflict', message, { code, param: 'email' })
}
