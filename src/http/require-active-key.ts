/** The status check for endpoints that reserve nothing: inference learns a key's status from its reserve, these ask for it. */
import { GatewayError } from '@/chat/error'
import type { Payer } from '@/ledger/outcomes'
import type { HttpDeps } from './deps'

/** Throws `invalid_credentials` unless the payer's key is active right now. */
export async function requireActiveKey(deps: HttpDeps, payer: Payer): Promise<void> {
  const key = await deps.ledger.readKey(payer)
  if (!key) throw new GatewayError('invalid_credentials', 'Incorrect API key provided.')
  if (key.status !== 'active') throw new GatewayError('invalid_credentials', `This API key is ${key.status}.`)
  if (key.expiresAtMs !== null && key.expiresAtMs <= deps.clock.now()) {
    throw new GatewayError('invalid_credentials', 'This API key is expired.')
  }
}
