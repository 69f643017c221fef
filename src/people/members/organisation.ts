/** Turns a personal account into an organisation, permanently. Id, balance, keys and history stay. */
import { eq } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { lockAccount } from '@/accounts/in-order'
import type { Database } from '@/db/client'
import { findRow } from '@/db/find-row'
import { accounts, type Company } from '@/db/schema'

type OrganisationOutcome = { kind: 'done' } | { kind: 'unknown_account' | 'organisation_already' }

/** Turns the account into an organisation, and gives it the company's name. */
export async function makeOrganisation(
  { db }: Database,
  accountId: string,
  company: Company,
  by: ChangedBy,
): Promise<OrganisationOutcome> {
  return await db.transaction(async (transaction) => {
    const account = await lockAccount(transaction, accountId)
    if (!account) return { kind: 'unknown_account' }
    if (account.kind === 'organisation') return { kind: 'organisation_already' }
    const { name, country, vatId } = company
    await transaction.update(accounts).set({ kind: 'organisation', company, name }).where(eq(accounts.id, accountId))
    const entry = { action: 'account.make_organisation', subject: accountId, accountId }
    await recordAudit(transaction, { ...by, ...entry, details: { name, country, vatId } })
    return { kind: 'done' }
  })
}

type ChangeCompanyOutcome = { kind: 'done' } | { kind: 'unknown_account' | 'not_organisation' }

/** Changes an organisation's legal data; the account's name stays that of the company. The audit log has the data before and after. */
export async function changeCompany(
  { db }: Database,
  accountId: string,
  company: Company,
  by: ChangedBy,
): Promise<ChangeCompanyOutcome> {
  return await db.transaction(async (transaction) => {
    const account = await lockAccount(transaction, accountId)
    if (!account) return { kind: 'unknown_account' }
    const { company: before } = account
    if (!before) return { kind: 'not_organisation' }
    const { name, country, vatId } = company
    await transaction.update(accounts).set({ company, name }).where(eq(accounts.id, accountId))
    await recordAudit(transaction, {
      ...by,
      ...{ action: 'account.company', subject: accountId, accountId },
      details: {
        ...{ name, country, vatId },
        ...{ 'before.name': before.name, 'before.country': before.country, 'before.vatId': before.vatId },
      },
    })
    return { kind: 'done' }
  })
}

/** The account's kind; undefined if there is no such account. */
export async function findKind(
  { db }: Database,
  accountId: string,
): Promise<Pick<typeof accounts.$inferSelect, 'kind' | 'name' | 'company'> | undefined> {
  return await findRow(db, accounts, eq(accounts.id, accountId))
}
