/** Where a request of each format may go, and what becomes of it there: what tests of content and of fields share. */
import { targetOfEntry } from '@test/dialects/provider-entry'
import { GatewayError } from '@/chat/error'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { Dialect } from '@/dialects/dialect'
import { lostFields } from '@/formats/field-fates'
import type { TargetTraits } from '@/formats/format'
import { FORMATS } from '@/formats/index'
import { untoldElsewhere } from '@/formats/protocol'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'

const AWS = { type: 'aws', region: 'eu-west-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }

/** Everything that a request may be sent to: each format as its vendor has it, and the dialects that say it in other words. */
export const PROVIDERS: { name: string; format: FormatName; quirks: string[]; dialect?: Dialect }[] = [
  ...FORMAT_NAMES.map((format) => ({ name: format, format, quirks: [] })),
  { name: 'a newer Gemini', format: 'generate-content', quirks: ['thought-signatures', 'function-response-parts'] },
  { name: 'a service that takes strings', format: 'chat-completions', quirks: ['string-content', 'no-mid-system'] },
  { name: 'bedrock-invoke', format: 'messages', quirks: [], dialect: dialectOf('bedrock-invoke') },
  { name: 'bedrock-converse', format: 'messages', quirks: [], dialect: dialectOf('bedrock-converse') },
]

function dialectOf(dialect: string): Dialect {
  return targetOfEntry({ format: 'messages', dialect, baseUrl: 'http://127.0.0.1:1', auth: AWS }).provider.dialect
}

function formatNamed(name: FormatName) {
  const format = FORMATS.get(name)
  assert(format, 'the format is known')
  return format
}

/** What becomes of a request: what is sent of it and what is named as left out, or the words in which it is refused. */
export function send(client: FormatName, provider: (typeof PROVIDERS)[number], body: JsonObject) {
  const [from, to] = [formatNamed(client), formatNamed(provider.format)]
  const quirks = new Set(provider.quirks)
  const traits: TargetTraits = { model: 'anthropic.claude', maxOutputTokens: 8192, quirks, accountId: 'acc_1' }
  try {
    const request = from.decodeRequest(body, { model: 'svc/alpha', stream: false })
    const encoded = from === to ? undefined : to.encodeRequest(request, traits)
    const written = encoded?.body ?? from.passThrough.request(body, request, traits)
    const lost = encoded
      ? [...lostFields(request, body, from, to, encoded.warnings), ...untoldElsewhere(request)]
      : (request.unlisted ?? [])
    const sealed = provider.dialect?.envelope?.(written, {}) ?? { body: written, leftOut: [] }
    return { sent: sealed.body, leftOut: [...lost, ...sealed.leftOut] }
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return { refused: error.message }
    throw error
  }
}
