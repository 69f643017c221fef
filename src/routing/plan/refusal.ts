/** Tells a caller why no model can serve the request: which requirement ruled out which model. */
import { GatewayError } from '@/chat/error'
import type { PassedOver } from './requirements'

/** Models named in full in one message; a tier may have many. */
const MAX_NAMED = 8

/** The 400 for a request that every model was passed over for. */
export function noneCanServe(passedOver: readonly PassedOver[]): GatewayError {
  const details = Object.fromEntries(
    passedOver
      .slice(0, MAX_NAMED)
      .map(({ model, unmet }) => [model.id, unmet.map((item) => item.requirement).join(', ')]),
  )
  const reasons = passedOver
    .slice(0, MAX_NAMED)
    .map(({ model, unmet }) => `${model.id} ${unmet.map((item) => item.detail).join(' and ')}`)
  const more = passedOver.length > MAX_NAMED ? `; and ${passedOver.length - MAX_NAMED} more` : ''
  const message = `No model can serve this request: ${reasons.join('; ')}${more}.`
  // Clients shorten a conversation by themselves when they are told that it is too long, so they are told just that.
  // What the key may not call would not have served them either way.
  const isOnlyLength = passedOver.every(({ unmet }) =>
    unmet.every(({ requirement }) => requirement === 'context-length' || requirement === 'permission'),
  )
  if (isOnlyLength) return new GatewayError('context_length_exceeded', message, { param: 'messages', details })
  return new GatewayError('invalid_request', message, { param: 'model', code: 'no_capable_model', details })
}
