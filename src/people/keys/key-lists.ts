/** A key's lists in request bodies: allowed networks, which must not lock out their editor, and tags, by which usage is grouped. */
import { Type } from '@sinclair/typebox'
import { GatewayError, invalidRequest } from '@/chat/error'
import { clientAddress } from '@/http/client-address'
import { createNetworks, parseNetwork } from '@/lib/networks'
import { orNull } from '@/lib/schemas'
import { readTag, tagName } from '@/usage/tags'
import { KEY_FIELDS } from './fields'

const PARAM = 'allowedAddresses'
const { allowedAddresses, tags } = KEY_FIELDS

export const AllowedAddresses = orNull(
  Type.Array(Type.String({ maxLength: allowedAddresses.items.chars, examples: ['203.0.113.0/24', '2001:db8::/32'] }), {
    minItems: 1,
    maxItems: allowedAddresses.items.most,
  }),
  { description: allowedAddresses.words },
)

/** Reads a list of networks, and removes duplicates. Throws `invalid_request` that quotes an invalid entry. */
export function readAddresses(list: readonly string[] | null): readonly string[] | null {
  return list && [...new Set(list.map(readNetwork))]
}

function readNetwork(text: string): string {
  const network = parseNetwork(text.trim())
  if (network !== undefined) return network
  const hint = 'Write it like 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32, with no bits behind the prefix.'
  throw invalidRequest(`'${text}' is no address or network. ${hint}`, PARAM)
}

/** Throws `invalid_request` for a list without the editor's own address. If an undeclared proxy hides that address, any list is refused. */
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

export const KeyTagsField = orNull(
  Type.Array(Type.String({ maxLength: tags.items.chars, examples: ['team=search'] }), {
    minItems: 1,
    maxItems: tags.items.most,
  }),
  { description: tags.words },
)

/** Reads a list of tags, in order. Throws `invalid_request` that quotes an invalid tag, or a repeated name. */
export function readTags(list: readonly string[] | null): readonly string[] | null {
  const read = list?.map(readOne).toSorted()
  const twice = read?.find((tag, index) => read.slice(0, index).some((other) => tagName(other) === tagName(tag)))
  if (twice !== undefined) throw invalidRequest(`The name '${tagName(twice)}' has two values.`, 'tags')
  return read ?? null
}

function readOne(text: string): string {
  const tag = readTag(text.trim())
  if (tag !== undefined) return tag
  const hint =
    'Write it like team=search: up to 32 of a-z, 0-9, _ . - before the sign, and up to 64 without blanks behind it.'
  throw invalidRequest(`'${text}' is no tag. ${hint}`, 'tags')
}
