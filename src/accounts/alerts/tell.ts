import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import { writeMails } from '@/accounts/mails/outbox'
import { type NewMail, optionalKindOf } from '@/accounts/mails/templates'
import { addressesOf } from '@/accounts/members/tell-members'
import { ALERT_KINDS, type AlertKind, alertAddresses, alertOptOuts } from '@/db/alert-schema'
import { ACCOUNT_ROLES } from '@/db/auth-schema'
import type { Transaction } from '@/db/client'
import { type FactAlerts, refusedMailAddresses } from '@/db/mail-schema'
import type { DueAlert } from './crossings'

/** Mails each person the alerts of one account that they may get and have not turned off: all alerts of one check in one mail. */
export async function tellAll(transaction: Transaction, accountId: string, due: readonly DueAlert[]): Promise<void> {
  if (due.length === 0) return
  const audience = await readAudience(transaction, accountId)
  const mailsTo = new Map<string, DueAlert[]>()
  for (const alert of due)
    for (const address of audience.recipientsOf(alert)) mailsTo.set(address, [...(mailsTo.get(address) ?? []), alert])
  const groups = Map.groupBy(mailsTo, ([, alerts]) => alerts.map((alert) => due.indexOf(alert)).join())
  for (const group of groups.values()) {
    const [[, alerts] = ['', []]] = group
    const mail = together(alerts)
    if (mail)
      await writeMails(
        transaction,
        mail,
        group.map(([address]) => address),
      )
  }
}

function together(alerts: readonly DueAlert[]): NewMail | undefined {
  const [first] = alerts
  if (!first || alerts.length === 1) return first?.mail
  const { accountId, accountName } = first.mail.facts
  const listed = alerts.map(({ mail: { kind, facts } }) => ({ kind, facts }) satisfies FactAlerts[number])
  return { kind: 'several_alerts', facts: { accountId, accountName, alerts: listed } }
}

/** Everybody who may get the account's alerts. Addresses are in lower case. */
async function readAudience(transaction: Transaction, accountId: string) {
  const people = (await addressesOf(transaction, accountId, ACCOUNT_ROLES)).map(({ email, ...person }) => ({
    ...person,
    email: email.toLowerCase(),
  }))
  const isConfirmed = and(eq(alertAddresses.accountId, accountId), isNotNull(alertAddresses.confirmedAt))
  const further = await transaction.select({ email: alertAddresses.email }).from(alertAddresses).where(isConfirmed)
  const all = [...people, ...further].map(({ email }) => email)
  const optOuts = await transaction.select().from(alertOptOuts).where(eq(alertOptOuts.accountId, accountId))
  const refused =
    all.length === 0
      ? []
      : await transaction
          .select({ email: refusedMailAddresses.email })
          .from(refusedMailAddresses)
          .where(inArray(refusedMailAddresses.email, all))
  const isRefused = new Set(refused.map(({ email }) => email))
  const isUnwanted = (email: string, kind: AlertKind) =>
    isRefused.has(email) || optOuts.some((one) => one.email === email && one.kind === kind)
  return {
    recipientsOf({ mail, memberId }: DueAlert): string[] {
      const kind = ALERT_KINDS.find((one) => one === optionalKindOf(mail.kind))
      if (kind === undefined) throw new Error(`${mail.kind} is no alert`)
      const concerned = people.filter(
        ({ role, userId }) => role === 'owner' || role === 'billing' || userId === memberId,
      )
      const to = new Set([...concerned, ...further].map(({ email }) => email))
      return [...to].filter((email) => !isUnwanted(email, kind))
    },
  }
}
