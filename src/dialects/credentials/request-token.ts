/** Requests a token from a token endpoint. Of the response, only the token and the error code are used. */

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { type Authorizer, CredentialError } from './authorizer'
import type { Token, TokenSource } from './token-source'

const TIMEOUT_MS = 10_000
const MAX_ANSWER_CHARS = 65_536
/** Longer error texts may quote a secret, so only a short code is used. */
const WORD = /^[A-Za-z0-9_.-]{1,64}$/

/** A response, and its time by the endpoint's clock, milliseconds since 1970. */
type TokenAnswer = { status: number; text: string; atMs: number }

/** The token in the JSON of `url`, with its lifetime. `what` names the endpoint in errors; a genuine response has the header `mark`. */
export async function requestToken(
  what: string,
  url: string,
  init: RequestInit,
  mark?: { name: string; value: string },
): Promise<Token> {
  const startedMs = Date.now()
  const { status, text, atMs } = await ask(what, url, init, mark)
  const answer = text.length > MAX_ANSWER_CHARS ? undefined : parseJson(text)
  const fields: JsonObject = isJsonObject(answer) ? answer : {}
  const value = fields.access_token ?? fields.accessToken
  const lifeMs = lifeOf(fields, atMs)
  if (status === 200 && typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) && lifeMs > 0) {
    return { value, expiresAtMs: startedMs + lifeMs }
  }
  throw new CredentialError(`${what} answered ${status}${wordOf(fields.error)} without a token`, atMs)
}

/** The response of `url`, with any status. */
export async function ask(
  what: string,
  url: string,
  init: RequestInit,
  mark?: { name: string; value: string },
): Promise<TokenAnswer> {
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (mark && response.headers.get(mark.name) !== mark.value) throw new CredentialError(`${what} is somebody else`)
    const atMs = Date.parse(response.headers.get('date') ?? '')
    return { status: response.status, text: await response.text(), atMs: Number.isNaN(atMs) ? Date.now() : atMs }
  } catch (error) {
    if (error instanceof CredentialError) throw error
    const name = error instanceof Error ? error.name : 'error'
    throw new CredentialError(`${what} cannot be reached: ${name}`)
  }
}

/** A token's remaining lifetime. It is computed with the endpoint's clock, which may differ from ours. */
function lifeOf({ expires_in: seconds, expires_on: untilSeconds, expireTime }: JsonObject, atMs: number): number {
  if (seconds !== undefined) return Number(seconds) * 1000
  return (untilSeconds === undefined ? Date.parse(String(expireTime)) : Number(untilSeconds) * 1000) - atMs
}

/** The code of an error. In OAuth the error is the code itself; Google's own APIs send an object with a code. */
function wordOf(error: JsonValue | undefined): string {
  const word = isJsonObject(error) ? error.status : error
  return typeof word === 'string' && WORD.test(word) ? ` ${word}` : ''
}

const PREFIX = 'Bearer '
const UNAUTHORIZED = 401

/** Authorizes each call with the source's current token. */
export function bearerToken(source: TokenSource): Authorizer {
  return {
    async authorize({ headers }, signal) {
      return { ...headers, authorization: PREFIX + (await source.get(signal)) }
    },
    // A 403 is about the token's permissions, which a new token would not change.
    refused: ({ authorization = '' }, { status }) =>
      status === UNAUTHORIZED && source.drop(authorization.slice(PREFIX.length)),
    warm: source.warm,
    status: source.status,
  }
}
