/** Describes why a request failed, without any text of the request or of a provider. */
import type { GatewayError } from '@/chat/error'
import { createRedactor } from '@/lib/redact'

const MAX_WORDS_CHARS = 300
const MAX_PARAM_CHARS = 100
const MAX_READ_CHARS = 600
/** Quotations, which may be a caller's text. A match ends at the last mark, because the text may contain marks. */
const QUOTED = [/(?<=^|[\s(])'.*'(?=[\s.,;:)]|$)/gs, /".*"/gs]
/** Characters outside of field paths. */
const OUTSIDE_PATH = /[^\w.[\]$-]/g
const CONTROL = /\p{Cc}/gu

/** The characters of providers' model names. Other model texts from a caller may be content. */
const MODEL_NAME = /^[A-Za-z0-9@][\w.:/@+-]{0,127}$/
const redact = createRedactor()

/** The requested model if it looks like a model's name, so that a mistyped one can be found. Null if it may be content or a secret. */
export function modelName(asked: string | undefined): string | null {
  return asked !== undefined && MODEL_NAME.test(asked) && redact(asked) === asked ? asked : null
}

/** The message for people, the invalid field, and the provider's request id. */
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

/** Removes quotations. A message that is too long to search is cut at its first quotation mark. */
function unquoted(message: string): string {
  if (message.length > MAX_READ_CHARS) return message.slice(0, MAX_READ_CHARS).replace(/['"].*$/s, '…')
  return QUOTED.reduce((text, quoted) => text.replace(quoted, '…'), message)
}
