/** The Idempotency-Key header, and the fingerprint that identifies a request's content. */
import { createHash } from 'node:crypto'
import { GatewayError } from '@/chat/error'
import { pathOf, queryOf } from '@/http/request-line'

const MAX_KEY_CHARS = 255
const KEY = /^[\x21-\x7e]{1,255}$/

export const IDEMPOTENCY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Names this request for 24 hours: a repetition with the same body gets the first answer again, with the header ' +
    '`idempotent-replayed: true`, and costs and changes nothing.',
  schema: { type: 'string', minLength: 1, maxLength: MAX_KEY_CHARS, pattern: '^[\\x21-\\x7e]+$' },
} as const

/** The key and a fingerprint, which is complete once the body was read. */
export type RequestName = { key: string; fingerprint: string; ofBody(body: Uint8Array): void }

/** The idempotency key, if any. Throws `invalid_request` if it is invalid, or if keys are switched off, since the caller relies on it. */
export function readRequestName(request: Request, isOffered: boolean): RequestName | undefined {
  const key = request.headers.get('idempotency-key')
  if (key === null) return undefined
  if (!isOffered)
    throw refusal('idempotency_unsupported', 'This service does not keep answers. Send no Idempotency-Key.')
  if (!KEY.test(key)) {
    const message = `The header Idempotency-Key must be 1 to ${MAX_KEY_CHARS} visible ASCII characters.`
    throw refusal('invalid_idempotency_key', message)
  }
  const name: RequestName = {
    key,
    fingerprint: '',
    ofBody(body) {
      name.fingerprint = fingerprintOf(request, body)
    },
  }
  return name
}

function refusal(code: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { code, param: 'Idempotency-Key' })
}

/** Two requests are the same if method, path, query and every byte of the body are. Credentials don't count. */
function fingerprintOf({ method, url }: Request, body: Uint8Array): string {
  const query = new URLSearchParams(queryOf(url))
  query.delete('key')
  return createHash('sha256')
    .update(`${method} ${pathOf(url)}?${query}\n`)
    .update(body)
    .digest('hex')
}
