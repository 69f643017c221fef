import { GatewayError } from '@/chat/error'
import { unusableKey } from '@/gateway/refuse-early'
import { allowsAddress } from '@/ledger/address-lists'
import { hasEnded } from '@/ledger/key-secrets'
import type { Ledger } from '@/ledger/ledger'
import type { KeyUsage, Payer } from '@/ledger/outcomes'
import type { Clock } from '@/lib/clock'
import type { From } from './client-address'

type KeyDeps = { ledger: Pick<Ledger, 'readKey'>; clock: Clock }

/** Checks the key's status without a reserve. Throws `invalid_credentials` unless it is active, `forbidden` for a refused address. */
export async function requireActiveKey(deps: KeyDeps, payer: Payer, from: From): Promise<KeyUsage> {
  const key = await deps.ledger.readKey(payer)
  const nowMs = deps.clock.now()
  if (!key) throw new GatewayError('invalid_credentials', 'Incorrect API key provided.')
  const { status, expiresAtMs, secrets, addressText } = key
  if (status !== 'active') throw unusableKey({ kind: 'key_inactive', status })
  if (expiresAtMs !== null && expiresAtMs <= nowMs) throw unusableKey({ kind: 'key_inactive', status: 'expired' })
  if (hasEnded(payer.secret, secrets, nowMs)) throw unusableKey({ kind: 'key_inactive', status: 'replaced' })
  if (addressText && !allowsAddress(addressText, from.clientAddress)) throw unusableKey({ kind: 'address_not_allowed' })
  return key
}
