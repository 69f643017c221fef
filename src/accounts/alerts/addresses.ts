/** Addresses, besides the members', that get an account's alerts. Each is active only after somebody confirmed it by a mailed link. */
import { and, asc, eq, gt, inArray, isNull, sql } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { lockAccount } from '@/accounts/in-order'
import { kindsOfShare } from '@/accounts/mails/rules'
import { alertAddresses } from '@/db/alert-schema'
import { users } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { mails } from '@/db/mail-schema'
import { accounts } from '@/db/schema'
import { randomBase62, sha256Hex } from '@/lib/ids'

/** Per account. */
export const MAX_ALERT_ADDRESSES = 5
export const CONFIRM_ALERTS_DAYS = 7

/** 190 bits. */
const TOKEN_LENGTH = 32
const DAY_MS = 86_400_000

export type AlertAddress = { email: string; isConfirmed: boolean }

export type AlertQuestion = {
  email: string
  accountName: string
  /** Name of the person who last sent the link; null: an operator. */
  askedBy: string | null
}

export type AskOutcome =
  | { kind: 'asked' }
  | { kind: 'unknown_account' | 'unknown_address' | 'already_there' | 'already_confirmed' }
  | { kind: 'too_many'; limit: number }

/** The account that adds the address. `tell` writes the mail with the link, in the transaction that stores the address. */
type Asking = {
  accountId: string
  by: ChangedBy
  tell(transaction: Transaction, question: { email: string; token: string; accountName: string }): Promise<void>
}

/** The addresses of an account, oldest first. */
export async function listAlertAddresses(db: Database['db'] | Transaction, accountId: string): Promise<AlertAddress[]> {
  return await db
    .select({ email: alertAddresses.email, isConfirmed: sql<boolean>`${alertAddresses.confirmedAt} IS NOT NULL` })
    .from(alertAddresses)
    .where(eq(alertAddresses.accountId, accountId))
    .orderBy(asc(alertAddresses.createdAt), asc(alertAddresses.email))
}

/** Adds an address, unconfirmed. */
export async function addAlertAddress({ db }: Database, asking: Asking, address: string): Promise<AskOutcome> {
  const { accountId } = asking
  const email = address.toLowerCase()
  return await db.transaction(async (transaction) => {
    const account = await lockAccount(transaction, accountId)
    if (!account) return { kind: 'unknown_account' }
    const present = await listAlertAddresses(transaction, accountId)
    if (present.some((one) => one.email === email)) return { kind: 'already_there' }
    if (present.length >= MAX_ALERT_ADDRESSES) return { kind: 'too_many', limit: MAX_ALERT_ADDRESSES }
    await transaction
      .insert(alertAddresses)
      .values({ accountId, email, ...(await ask(transaction, asking, account, email)) })
    await note(transaction, asking, 'alert_address.add', email)
    return { kind: 'asked' }
  })
}

/** Mails a new link to an unconfirmed address; the former link no longer works. */
export async function askAlertAddressAgain({ db }: Database, asking: Asking, address: string): Promise<AskOutcome> {
  const email = address.toLowerCase()
  return await db.transaction(async (transaction) => {
    const account = await lockAccount(transaction, asking.accountId)
    if (!account) return { kind: 'unknown_account' }
    const own = isAddress(asking.accountId, email)
    const [row] = await transaction.select().from(alertAddresses).where(own)
    if (!row) return { kind: 'unknown_address' }
    if (row.confirmedAt) return { kind: 'already_confirmed' }
    await transaction
      .update(alertAddresses)
      .set(await ask(transaction, asking, account, email))
      .where(own)
    await note(transaction, asking, 'alert_address.ask_again', email)
    return { kind: 'asked' }
  })
}

/** Removes an address and its pending alerts. A repeated call changes nothing. */
export async function removeAlertAddress(
  { db }: Database,
  { accountId, by }: Pick<Asking, 'accountId' | 'by'>,
  address: string,
): Promise<void> {
  const email = address.toLowerCase()
  await db.transaction(async (transaction) => {
    await lockAccount(transaction, accountId)
    const removed = await transaction.delete(alertAddresses).where(isAddress(accountId, email)).returning()
    if (removed.length === 0) return
    await dropWaitingAlerts(transaction, accountId, email)
    await note(transaction, { accountId, by }, 'alert_address.remove', email)
  })
}

/** Ends the alerts to the address of a person who departs: its entry among the addresses, and alerts that are waiting. */
export async function endAlertsTo(transaction: Transaction, accountId: string, address: string): Promise<void> {
  const email = address.toLowerCase()
  await transaction.delete(alertAddresses).where(isAddress(accountId, email))
  await dropWaitingAlerts(transaction, accountId, email)
}

async function dropWaitingAlerts(transaction: Transaction, accountId: string, email: string): Promise<void> {
  const isWaiting = and(eq(mails.owner, accountId), eq(mails.recipient, email), eq(mails.state, 'waiting'))
  await transaction.delete(mails).where(and(isWaiting, inArray(mails.kind, kindsOfShare('several_alerts'))))
}

/** Replaces an account's addresses. An operator vouches for them, so they need no confirmation. */
export async function setAlertAddresses(
  { db }: Database,
  { accountId, by }: Pick<Asking, 'accountId' | 'by'>,
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

/** The content of a link's page; undefined if the link is unknown, used, replaced or expired. */
export async function readAlertQuestion(
  db: Database['db'] | Transaction,
  token: string,
): Promise<(AlertQuestion & { accountId: string }) | undefined> {
  const isOpen = and(isNull(alertAddresses.confirmedAt), gt(alertAddresses.confirmUntil, sql`now()`))
  const [row] = await db
    .select({
      accountId: alertAddresses.accountId,
      email: alertAddresses.email,
      accountName: accounts.name,
      askedBy: users.name,
    })
    .from(alertAddresses)
    .innerJoin(accounts, eq(accounts.id, alertAddresses.accountId))
    .leftJoin(users, eq(users.id, alertAddresses.askedBy))
    .where(and(eq(alertAddresses.tokenHash, sha256Hex(token)), isOpen))
  return row
}

/** Confirms an address by its link. From then on it gets alerts. */
export async function confirmAlertAddress(
  { db }: Database,
  token: string,
  by: Omit<ChangedBy, 'actor'>,
): Promise<AlertQuestion | undefined> {
  return await db.transaction(async (transaction) => {
    const found = await readAlertQuestion(transaction, token)
    if (!found) return undefined
    const { accountId, ...question } = found
    const confirmed = await transaction
      .update(alertAddresses)
      .set({ confirmedAt: new Date(), tokenHash: null, confirmUntil: null })
      .where(and(isAddress(accountId, question.email), eq(alertAddresses.tokenHash, sha256Hex(token))))
      .returning()
    if (confirmed.length === 0) return undefined
    const actor = { userId: null, email: question.email }
    await note(transaction, { accountId, by: { ...by, actor } }, 'alert_address.confirm', question.email)
    return question
  })
}

async function ask(
  transaction: Transaction,
  { by, tell }: Asking,
  { name: accountName }: { name: string },
  email: string,
) {
  const token = randomBase62(TOKEN_LENGTH)
  await tell(transaction, { email, token, accountName })
  const confirmUntil = new Date(Date.now() + CONFIRM_ALERTS_DAYS * DAY_MS)
  return { askedBy: by.actor.userId, tokenHash: sha256Hex(token), confirmUntil }
}

async function note(
  transaction: Transaction,
  { accountId, by }: Pick<Asking, 'accountId' | 'by'>,
  action: string,
  email: string,
): Promise<void> {
  await recordAudit(transaction, { ...by, action, subject: accountId, accountId, details: { email } })
}

function isAddress(accountId: string, email: string) {
  return and(eq(alertAddresses.accountId, accountId), eq(alertAddresses.email, email))
}
