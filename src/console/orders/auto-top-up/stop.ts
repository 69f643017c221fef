/** Turns an auto top-up off without a member's request, for instance because its card cannot be charged. */
import { and, eq } from 'drizzle-orm'
import { recordAudit } from '@/accounts/audit'
import { writeMails } from '@/accounts/mails/outbox'
import type { MailedStop } from '@/accounts/mails/top-up-templates'
import { mayDo } from '@/accounts/members/permissions'
import { addressesOf, nameOf } from '@/accounts/members/tell-members'
import { ACCOUNT_ROLES } from '@/db/auth-schema'
import type { Transaction } from '@/db/client'
import { autoTopUps } from '@/db/orders-schema'

/** Turns the auto top-up off if it is on, and mails the members who may pay. */
export async function stopByItself(
  transaction: Transaction,
  provider: string,
  accountId: string,
  reason: MailedStop,
): Promise<void> {
  const isOn = and(eq(autoTopUps.accountId, accountId), eq(autoTopUps.isOn, true))
  const stopped = await transaction
    .update(autoTopUps)
    .set({ isOn: false, stopped: reason })
    .where(isOn)
    .returning({ accountId: autoTopUps.accountId })
  if (stopped.length === 0) return
  const facts = { accountId, accountName: await nameOf(transaction, accountId), reason }
  await writeMails(transaction, { kind: 'top_up_stopped', facts }, await payersOf(transaction, accountId))
  await recordAudit(transaction, {
    actor: { userId: null, email: `deposit:${provider}` },
    action: 'auto_top_up.stop',
    subject: accountId,
    accountId,
    details: { reason },
  })
}

/** The addresses of the members who may pay at present. */
export async function payersOf(transaction: Transaction, accountId: string): Promise<string[]> {
  const roles = ACCOUNT_ROLES.filter((role) => mayDo(role, 'billing.pay'))
  return (await addressesOf(transaction, accountId, roles)).map(({ email }) => email)
}
