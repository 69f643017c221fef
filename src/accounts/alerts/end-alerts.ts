/** Stops the alerts of an account to one address. */
import { and, eq, inArray } from 'drizzle-orm'
import { kindsOfShare } from '@/accounts/mails/rules'
import { alertAddresses } from '@/db/alert-schema'
import type { Transaction } from '@/db/client'
import { mails } from '@/db/mail-schema'

/** Removes a departing person's address from the account's alert addresses, and deletes waiting alerts to it. */
export async function endAlertsTo(transaction: Transaction, accountId: string, address: string): Promise<void> {
  const email = address.toLowerCase()
  await transaction.delete(alertAddresses).where(isAlertAddress(accountId, email))
  await dropWaitingAlerts(transaction, accountId, email)
}

/** Removes the account's alerts that wait for `email`, which is in lower case. */
export async function dropWaitingAlerts(transaction: Transaction, accountId: string, email: string): Promise<void> {
  const isWaiting = and(eq(mails.owner, accountId), eq(mails.recipient, email), eq(mails.state, 'waiting'))
  await transaction.delete(mails).where(and(isWaiting, inArray(mails.kind, kindsOfShare('several_alerts'))))
}

/** The condition for the row of one alert address of an account. */
export function isAlertAddress(accountId: string, email: string) {
  return and(eq(alertAddresses.accountId, accountId), eq(alertAddresses.email, email))
}
