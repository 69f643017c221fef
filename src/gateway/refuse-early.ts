/** What a reserve would refuse for sure, refused before anything is read for it. */

import type { GatewayError } from '@/chat/error'
import { denial } from '@/gateway/hold/denial'
import type { Ledger } from '@/ledger/ledger'
import type { Payer, Refusal } from '@/ledger/outcomes'
import { type Nano, nano } from '@/lib/money'

/** At least 1: an account without any credit is refused even where no price is known. */
const something = (least: Nano) => nano(Math.max(1, least))

/** Throws what a reserve of `least` and of one token would, for whatever model. One round trip. */
export async function refuseAsReserve(ledger: Pick<Ledger, 'refusalOf'>, payer: Payer, least: Nano): Promise<void> {
  const refusal = await ledger.refusalOf(payer, something(least))
  if (refusal) throw denial(refusal)
}

/** Throws where the account is suspended, or its credit, held or not, does not pay `least`. One round trip. */
export async function refuseWithoutCredit(
  ledger: Pick<Ledger, 'readBalance'>,
  { accountId }: Payer,
  least: Nano,
): Promise<void> {
  const balance = await ledger.readBalance(accountId)
  if (!balance) return
  const { status, available, held } = balance
  if (status === 'suspended') throw denial({ kind: 'account_suspended' })
  const needed = something(least)
  if (available + held < needed) throw denial({ kind: 'insufficient', available, held, needed })
}

/** What a reserve says of a key that may not be used, or not from there. */
export function unusableKey(refusal: Extract<Refusal, { kind: 'key_inactive' | 'address_not_allowed' }>): GatewayError {
  return denial(refusal)
}
