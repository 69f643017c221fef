/** Calls that are authorized by a token of a source. */
import type { Authorizer } from './authorizer'
import type { TokenSource } from './token-source'

const PREFIX = 'Bearer '
const UNAUTHORIZED = 401

/** Authorizes each call with the source's token of the moment. */
export function bearerToken(source: TokenSource): Authorizer {
  return {
    async authorize({ headers }, signal) {
      return { ...headers, authorization: PREFIX + (await source.get(signal)) }
    },
    // A 403 says what its bearer may do, which another token would not change.
    refused: ({ authorization = '' }, { status }) =>
      status === UNAUTHORIZED && source.drop(authorization.slice(PREFIX.length)),
    warm: source.warm,
    status: source.status,
  }
}
