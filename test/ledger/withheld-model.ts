/** The rules for withheld credit once more, in plain memory, beside those for requests in the model. */
import { NO_KEY } from '@/ledger/store/names'
import { type Expected, type ModelAccount, tombstone } from './model'

/** What a debit answers that is withheld before it is booked. */
export function withhold(
  account: ModelAccount,
  accountId: string,
  entryId: string,
  amount: number,
  mayOverdraw: boolean,
): Expected {
  if (!mayOverdraw && account.available < amount) return { kind: 'insufficient', available: account.available }
  account.available -= amount
  if (account.available < 0) account.overrun += amount
  const hold = {
    ...tombstone({ accountId, keyId: NO_KEY }),
    state: 'open',
    amount,
    remainingMs: Number.POSITIVE_INFINITY,
  } as const
  account.holds.set(entryId, hold)
  return { kind: 'withheld', available: account.available }
}

/** Ends what was withheld: booked for good, or given back. */
export function endWithheld(account: ModelAccount, entryId: string, isBooked: boolean): void {
  const hold = account.holds.get(entryId)
  if (hold?.state !== 'open') return
  hold.state = isBooked ? 'settled' : 'released'
  if (isBooked) account.credits.set(entryId, -hold.amount)
  else account.available += hold.amount
}
