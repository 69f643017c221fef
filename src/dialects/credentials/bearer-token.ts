/** Calls that are authorized by a token of a source. */
import type { Authorizer } from './authorizer'
import type { TokenSource } from './token-source'

const PREFIX = 'Bearer '

/** Authorizes each call with the source's token of the moment. */
export function bearerToken(source: TokenSource): Authorizer {
  return {
    async authorize({ headers }, signal) {
      return { ...headers, authorization: PREFIX + (await source.get(signal)) }
    },
    warm: source.warm,
    status: source.status,
    refused: ({ authorization = '' }) => source.drop(authorization.slice(PREFIX.length)),
  }
}
