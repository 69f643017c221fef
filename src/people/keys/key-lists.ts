/**
 * The lists of a key as routes take them. Networks that it may be used from: read strictly, and never so that they lock out who saves
 * them. Tags: whatever it is used for is sorted by them.
 */
import { Type } from '@sinclair/typebox'
import { MAX_ADDRESSES } from '@/accounts/addresses/addresses'
import { GatewayError, invalidRequest } from '@/chat/error'
import { clientAddress } from '@/http/client-address'
import { createNetworks, parseNetwork } from '@/lib/networks'
import { orNull } from '@/lib/schemas'
import { MAX_TAGS, readTag, tagName } from '@/usage/tags'

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
 * Throws `invalid_request` for a list without the address of who saves it, and for any list where that is unknown, because a proxy
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

const MAX_TAG_CHARS = 97

export const KeyTagsField = orNull(
  Type.Array(Type.String({ maxLength: MAX_TAG_CHARS, examples: ['team=search'] }), { minItems: 1, maxItems: MAX_TAGS }),
  { description: '`name=value`, which win over tags that a request says; null = none' },
)

/** Reads a list of tags, in order. Throws `invalid_request`, quoting what is no tag, or a name that comes twice. */
export function readTags(list: readonly string[] | null): readonly string[] | null {
  const tags = list?.map(readOne).toSorted()
  const twice = tags?.find((tag, index) => tags.slice(0, index).some((other) => tagName(other) === tagName(tag)))
  if (twice !== undefined) throw invalidRequest(`The name '${tagName(twice)}' has two values.`, 'tags')
  return tags ?? null
}

function readOne(text: string): string {
  const tag = readTag(text.trim())
  if (tag !== undefined) return tag
  const hint =
    'Write it like team=search: up to 32 of a-z, 0-9, _ . - before the sign, and up to 64 without blanks behind it.'
  throw invalidRequest(`'${text}' is no tag. ${hint}`, 'tags')
}
