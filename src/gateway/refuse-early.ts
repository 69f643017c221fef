/** Refuses a request that the reserve would certainly refuse, before its body is read. */

import type { GatewayError } from '@/chat/error'
import { denial, denialFor, type SeesBalance } from '@/gateway/hold/denial'
import type { Ledger } from '@/ledger/ledger'
import type { Payer, Refusal } from '@/ledger/outcomes'
import { type Nano, nano } from '@/lib/money'

/** At least 1 nano-USD, so that an account without credit is refused even if no price is known. */
const something = (least: Nano) => nano(Math.max(1, least))

export type Asking<Asked extends keyof Ledger> = { ledger: Pick<Ledger, Asked>; seesBalance: SeesBalance }

/** Throws the error that a reserve would get for any model, if it asked for `least` credit and one token. One round trip. */
export async function refuseAsReserve(
  { ledger, seesBalance }: Asking<'refusalOf'>,
  payer: Payer,
  least: Nano,
): Promise<void> {
  const refusal = await ledger.refusalOf(payer, something(least))
  if (refusal) throw await denialFor(seesBalance, payer, refusal)
}

/** Throws if the account is suspended, or if its credit, including holds, is less than `least`. One round trip. */
export async function refuseWithoutCredit(
  { ledger, seesBalance }: Asking<'readBalance'>,
  payer: Payer,
  least: Nano,
): Promise<void> {
  const balance = await ledger.readBalance(payer.accountId)
  if (!balance) return
  const { status, available, held } = balance
  if (status === 'suspended') throw denial({ kind: 'account_suspended' })
  const needed = something(least)
  if (available + held >= needed) return
  throw await denialFor(seesBalance, payer, { kind: 'insufficient', available, held, needed })
}

/** The error for a key that may not be used at all, or not from this address. */
export function unusableKey(refusal: Extract<Refusal, { kind: 'key_inactive' | 'address_not_allowed' }>): GatewayError {
  return denial(refusal)
}
