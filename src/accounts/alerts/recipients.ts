/** Who gets an alert: whoever looks after the account, whom it binds, and further addresses; never who has turned it off. */
import { and, eq, inArray } from 'drizzle-orm'
import { addressesOf } from '@/accounts/members/tell-members'
import { type AlertKind, alertOptOuts, alertSettings } from '@/db/alert-schema'
import { memberships, users } from '@/db/auth-schema'
import type { Transaction } from '@/db/client'
import { refusedMailAddresses } from '@/db/mail-schema'

/** The addresses, in lower case, each once. `memberId` is whom it binds, if anybody. */
export async function alertRecipients(
  transaction: Transaction,
  accountId: string,
  kind: AlertKind,
  memberId: string | null,
): Promise<string[]> {
  const keepers = await addressesOf(transaction, accountId, ['owner', 'billing'])
  const member = memberId === null ? [] : await addressOf(transaction, accountId, memberId)
  const [settings] = await transaction
    .select({ addresses: alertSettings.addresses })
    .from(alertSettings)
    .where(eq(alertSettings.accountId, accountId))
  const all = [...keepers, ...member].map(({ email }) => email)
  const to = [...new Set([...all, ...(settings?.addresses ?? [])].map((address) => address.toLowerCase()))]
  if (to.length === 0) return []
  const without = await transaction
    .select({ email: alertOptOuts.email })
    .from(alertOptOuts)
    .where(and(eq(alertOptOuts.accountId, accountId), eq(alertOptOuts.kind, kind), inArray(alertOptOuts.email, to)))
  const refused = await transaction
    .select({ email: refusedMailAddresses.email })
    .from(refusedMailAddresses)
    .where(inArray(refusedMailAddresses.email, to))
  const unwanted = new Set([...without, ...refused].map(({ email }) => email))
  return to.filter((address) => !unwanted.has(address))
}

/** Of somebody who has left there is none. */
async function addressOf(transaction: Transaction, accountId: string, userId: string): Promise<{ email: string }[]> {
  return await transaction
    .select({ email: users.email })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.accountId, accountId), eq(memberships.userId, userId)))
}
