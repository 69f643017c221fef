/** The networks from which an account's keys may be used: lists per account and per key, also sent to the ledger. */
import { eq } from 'drizzle-orm'
import { type ChangedBy, recordAudit } from '@/accounts/audit'
import { tellLedgerOfAll } from '@/accounts/edit-key'
import { lockAccount } from '@/accounts/in-order'
import { describeAddresses } from '@/accounts/key-limits'
import { tellOfAddresses } from '@/accounts/members/tell-members'
import type { Database } from '@/db/client'
import { accounts } from '@/db/schema'
import type { Addresses } from '@/ledger/address-lists'
import type { Ledger } from '@/ledger/ledger'

type AddressChange = {
  accountId: string
  addresses: Addresses
  by: ChangedBy
  /** Gets the current list, whose row is locked. May throw to refuse the change. */
  check?: ((before: Addresses) => void) | undefined
}

/** The account's list of allowed addresses; undefined if the account doesn't exist. */
export async function accountAddresses({ db }: Database, accountId: string): Promise<Addresses | undefined> {
  const [row] = await db.select({ list: accounts.allowedAddresses }).from(accounts).where(eq(accounts.id, accountId))
  return row?.list
}

/**
 * Changes an account's list of allowed addresses, and that of each of its keys in the ledger. Writes an audit entry. Throws if the ledger
 * is unreachable; repeating the call updates the remaining keys.
 */
export async function changeAccountAddresses(
  database: Database,
  ledger: Ledger,
  { accountId, addresses, by, check }: AddressChange,
): Promise<'updated' | 'unknown_account'> {
  const isKnown = await database.db.transaction(async (transaction) => {
    const before = await lockAccount(transaction, accountId)
    if (!before) return false
    check?.(before.allowedAddresses)
    const allowedAddresses = addresses && [...addresses]
    await transaction.update(accounts).set({ allowedAddresses }).where(eq(accounts.id, accountId))
    const details = {
      allowedAddresses: describeAddresses(addresses),
      'before.allowedAddresses': describeAddresses(before.allowedAddresses),
    }
    if (details.allowedAddresses !== details['before.allowedAddresses'])
      await tellOfAddresses(transaction, { accountId, by }, addresses)
    await recordAudit(transaction, { ...by, action: 'account.addresses', subject: accountId, accountId, details })
    return true
  })
  if (!isKnown) return 'unknown_account'
  await tellLedgerOfAll(database, ledger, accountId)
  return 'updated'
}
