/** The status check for endpoints that reserve nothing: inference learns a key's status from its reserve, these ask for it. */
import { GatewayError } from '@/chat/error'
import { inactiveKey } from '@/gateway/refuse-early'
import { hasEnded } from '@/ledger/key-secrets'
import type { Ledger } from '@/ledger/ledger'
import type { KeyUsage, Payer } from '@/ledger/outcomes'
import type { Clock } from '@/lib/clock'

type KeyDeps = { ledger: Pick<Ledger, 'readKey'>; clock: Clock }

/** The payer's key as the ledger has it right now. Throws `invalid_credentials` unless it is active. */
export async function requireActiveKey(deps: KeyDeps, payer: Payer): Promise<KeyUsage> {
  return checkKey(await deps.ledger.readKey(payer), payer, deps.clock.now())
}

/** The same of a key as it was read at `nowMs`. */
function checkKey(key: KeyUsage | undefined, { secret }: Payer, nowMs: number): KeyUsage {
  if (!key) throw new GatewayError('invalid_credentials', 'Incorrect API key provided.')
  if (key.status !== 'active') throw inactiveKey(key.status)
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) throw inactiveKey('expired')
  if (hasEnded(secret, key.secrets, nowMs)) throw inactiveKey('replaced')
  return key
}
