/** The reason of a failed request, without any text of the request or of a provider about it. */
import type { GatewayError } from '@/chat/error'
import { createRedactor } from '@/lib/redact'

const MAX_WORDS_CHARS = 300
const MAX_PARAM_CHARS = 100
const MAX_READ_CHARS = 600
/** Text in quotation marks is foreign, up to the last mark, since it may hold some itself. */
const QUOTED = [/(?<=^|[\s(])'.*'(?=[\s.,;:)]|$)/gs, /".*"/gs]
/** A path of fields, as formats write it: names, numbers and what joins them. */
const OUTSIDE_PATH = /[^\w.[\]$-]/g
const CONTROL = /\p{Cc}/gu

/** The names that providers give to models have these characters. Anything else that a caller sends as a model may be content. */
const MODEL_NAME = /^[A-Za-z0-9@][\w.:/@+-]{0,127}$/
const redact = createRedactor()

/** The requested model if it has the form of a model's name, so that a mistyped one can be found. Null if it may be content or a secret. */
export function modelName(asked: string | undefined): string | null {
  return asked !== undefined && MODEL_NAME.test(asked) && redact(asked) === asked ? asked : null
}

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

/** A message that is too long to search is cut at the first quotation mark. */
function unquoted(message: string): string {
  if (message.length > MAX_READ_CHARS) return message.slice(0, MAX_READ_CHARS).replace(/['"].*$/s, '…')
  return QUOTED.reduce((text, quoted) => text.replace(quoted, '…'), message)
}
