/** What of an error may be kept: why a request failed, without anything that the request, or a provider about it, has said. */
import type { GatewayError } from '@/chat/error'

const MAX_WORDS_CHARS = 300
const MAX_PARAM_CHARS = 100
const MAX_READ_CHARS = 600
/** What stands in quotation marks was somebody else's; as far as the last mark, since it may hold some itself. */
const QUOTED = [/(?<=^|[\s(])'.*'(?=[\s.,;:)]|$)/gs, /".*"/gs]
/** A path of fields, as formats write it: names, numbers and what joins them. */
const OUTSIDE_PATH = /[^\w.[\]$-]/g
const CONTROL = /\p{Cc}/gu

/** The words for people, the field at fault, and the provider's own id of the request. */
export function withoutContent({ message, options }: GatewayError): {
  words: string
  param: string | null
  providerRequestId: string | null
} {
  const own = options.ownWords ?? unquoted(message)
  return {
    words: own.toWellFormed().replace(CONTROL, ' ').slice(0, MAX_WORDS_CHARS).toWellFormed(),
    param: options.param === undefined ? null : options.param.replace(OUTSIDE_PATH, '_').slice(0, MAX_PARAM_CHARS),
    providerRequestId: options.providerRequestId ?? null,
  }
}

/** Of a message too long to look for the end of what it quotes, nothing is kept from the first quotation mark on. */
function unquoted(message: string): string {
  if (message.length > MAX_READ_CHARS) return message.slice(0, MAX_READ_CHARS).replace(/['"].*$/s, '…')
  return QUOTED.reduce((text, quoted) => text.replace(quoted, '…'), message)
}
