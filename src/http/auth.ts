/** Identifies the caller by an API key, in any form that client libraries send. */
import type { Identify } from '@/accounts/identify'
import { programKeyKind } from '@/accounts/key-text'
import { GatewayError } from '@/chat/error'
import { FORMATS } from '@/formats/index'
import type { Payer } from '@/ledger/outcomes'
import type { Soon } from '@/lib/wait/soon'
import { queryOf } from './request-line'
import { knowCaller } from './silence'
import type { Unpaid } from './unpaid'

/** A longer text can't be an API key, so it is refused without hashing it. */
const MAX_CREDENTIAL_CHARS = 256
const BEARER = /^bearer +(\S+) *$/i

/** Headers other than `authorization` in which the clients of any format send a key. */
export const KEY_HEADERS: readonly string[] = [...FORMATS.values()].flatMap(({ recognition }) => recognition.keyHeaders)

type AuthDeps = { identify: Identify; unpaid: Unpaid }

/**
 * The payer of a request's API key. Throws `invalid_credentials` (401) if the key is missing, malformed (without a look-up) or unknown,
 * `invalid_request` (400) for two different keys, and `overloaded` (503) if no look-up is possible now; `rate_limited` (429) instead of a
 * 401 after too many 401s.
 */
export function authenticate({ identify, unpaid }: AuthDeps, request: Request): Soon<Payer> {
  const credential = credentialOf(unpaid, request)
  const found = identify(credential, () => unpaid.admitStranger(request))
  return found instanceof Promise
    ? found.then((payer) => knownPayer(payer, unpaid, request, credential))
    : knownPayer(found, unpaid, request, credential)
}

function knownPayer(payer: Payer | undefined, unpaid: Unpaid, request: Request, credential: string): Payer {
  if (!payer) {
    unpaid.stranger(request)
    throw unknownKey(credential)
  }
  knowCaller(request)
  return payer
}

/** Errors for keys that can't call models, by kind of key. */
const PROGRAM_KEYS = {
  mgmt: { code: 'management_key', words: 'a management key: it manages an account' },
  op: { code: 'operator_key', words: "an operator key: it is for the operator's API" },
}

function unknownKey(credential: string): GatewayError {
  const kind = programKeyKind(credential)
  if (kind === undefined) return new GatewayError('invalid_credentials', 'Incorrect API key provided.')
  const { code, words } = PROGRAM_KEYS[kind]
  return new GatewayError('invalid_credentials', `This is ${words} and calls no models. Use an API key.`, { code })
}

/** The request's key. A request without a well-formed key counts for its address, like a request with an unknown key. */
function credentialOf(unpaid: Unpaid, request: Request): string {
  try {
    return readCredential(request)
  } catch (error) {
    unpaid.stranger(request)
    throw error
  }
}

function readCredential(request: Request): string {
  const { headers } = request
  const authorization = headers.get('authorization')
  let found = authorization === null ? undefined : expectBearer(authorization)
  for (const name of KEY_HEADERS) {
    const value = headers.get(name)
    if (value !== null) found = theOne(found, value.trim())
  }
  const query = queryOf(request.url)
  if (query.includes('key=')) for (const value of new URLSearchParams(query).getAll('key')) found = theOne(found, value)
  if (found === undefined || found === '') {
    const message = "No API key provided. Send it as 'Authorization: Bearer svc-…'."
    throw new GatewayError('invalid_credentials', message)
  }
  if (found.length > MAX_CREDENTIAL_CHARS) throw new GatewayError('invalid_credentials', 'Incorrect API key provided.')
  return found
}

function theOne(found: string | undefined, candidate: string): string {
  if (found === undefined || found === candidate) return candidate
  throw new GatewayError('invalid_request', 'The request carries two different API keys. Send one.', {
    code: 'conflicting_credentials',
  })
}

/** The token of an Authorization header; undefined if there is none. */
export function bearerToken(authorization: string): string | undefined {
  return BEARER.exec(authorization)?.[1]
}

function expectBearer(authorization: string): string {
  const token = bearerToken(authorization)
  if (token === undefined) {
    throw new GatewayError('invalid_credentials', "The Authorization header must be 'Bearer' followed by the API key.")
  }
  return token
}
