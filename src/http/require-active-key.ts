/** The status check for endpoints that reserve nothing: inference learns a key's status from its reserve, these ask for it. */
import { GatewayError } from '@/chat/error'
import type { KeyUsage, Payer } from '@/ledger/outcomes'
import type { HttpDeps } from './deps'

/** The payer's key as the ledger has it right now. Throws `invalid_credentials` unless it is active. */
export async function requireActiveKey(deps: HttpDeps, payer: Payer): Promise<KeyUsage> {
  const key = await deps.ledger.readKey(payer)
  if (!key) throw new GatewayError('invalid_credentials', 'Incorrect API key provided.')
  if (key.status !== 'active') throw new GatewayError('invalid_credentials', `This API key is ${key.status}.`)
  if (key.expiresAtMs !== null && key.expiresAtMs <= deps.clock.now()) {
    throw new GatewayError('invalid_credentials', 'This API key is expired.')
  }
  return key
}
