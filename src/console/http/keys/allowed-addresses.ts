/** Lists of networks that keys may be used from, as routes take them: read strictly, and never so that they lock out who saves them. */
import { Type } from '@sinclair/typebox'
import { MAX_ADDRESSES } from '@/accounts/addresses/addresses'
import { GatewayError, invalidRequest } from '@/chat/error'
import { clientAddress } from '@/http/client-address'
import { createNetworks, parseNetwork } from '@/lib/networks'
import { orNull } from '@/lib/schemas'

const MAX_NETWORK_CHARS = 45
const PARAM = 'allowedAddresses'

export const AllowedAddresses = orNull(
  Type.Array(Type.String({ maxLength: MAX_NETWORK_CHARS, examples: ['203.0.113.0/24', '2001:db8::/32'] }), {
    minItems: 1,
    maxItems: MAX_ADDRESSES,
  }),
  { description: 'Addresses and networks (CIDR, IPv4 or IPv6) that requests may come from; null = everywhere' },
)

/** Reads a list, each network once. Throws `invalid_request`, quoting what is no network. */
export function readAddresses(list: readonly string[] | null): readonly string[] | null {
  return list && [...new Set(list.map(readNetwork))]
}

function readNetwork(text: string): string {
  const network = parseNetwork(text.trim())
  if (network !== undefined) return network
  const hint = 'Write it like 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32, with no bits behind the prefix.'
  throw invalidRequest(`'${text}' is no address or network. ${hint}`, PARAM)
}

/**
 * Throws `invalid_request` for a list without the address of who saves it, and for any list where that can't be told, because a proxy
 * stands in front which the service doesn't know of.
 */
export function checkOwnAddress(list: readonly string[], request: Request, trustedProxyHops: number): void {
  if (trustedProxyHops === 0 && request.headers.has('x-forwarded-for')) {
    const message =
      'Requests reach this service through a proxy that it does not know of, so all seem to come from one address. Whoever runs ' +
      'it has to set TRUSTED_PROXY_HOPS first.'
    throw new GatewayError('invalid_request', message, { code: 'client_addresses_unknown', param: PARAM })
  }
  const own = clientAddress(request, trustedProxyHops)
  if (createNetworks(list)(own)) return
  throw new GatewayError('invalid_request', `The list would lock you out: your own address, ${own}, is not in it.`, {
    ...{ code: 'own_address_missing', param: PARAM },
  })
}
