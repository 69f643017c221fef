/** Calls that are signed for AWS: by the credentials of the moment, and by AWS' own clock where ours is wrong. */
import type { Authorizer } from '@/dialects/credentials/authorizer'
import { sharedSource } from '@/dialects/credentials/shared-sources'
import { createTokenSource } from '@/dialects/credentials/token-source'
import { type AwsIdentity, credentialsOf, fetchCredentials, isRenewed } from './aws-credentials'
import { signedHeaders } from './signature'

/** Words that put a refusal down to credentials that have ended, or were never any. */
const ENDED = /^(?:ExpiredToken(?:Exception)?|UnrecognizedClientException|InvalidClientTokenId)$/
/** Words of a refusal for which a wrong clock may be the reason. */
const UNTIMELY = /^(?:InvalidSignatureException|SignatureDoesNotMatch|RequestTimeTooSkewed|RequestExpired)$/
/** A clock that is off by less is none of the reasons. */
const TOLERATED_SKEW_MS = 60_000
const UNAUTHORIZED = 401
const MANTLE_HOST = /^bedrock-mantle\./

/** Authorizes the calls of a provider at `baseUrl` as `identity`. `service` is what signatures are for; undefined = what the address says. */
export function awsAuth(identity: AwsIdentity, baseUrl: string, service = serviceAt(baseUrl)): Authorizer {
  const fetchToken = () => fetchCredentials(identity)
  const source = sharedSource(['aws', identity], () => createTokenSource({ fetchToken }))
  const scope = { region: identity.region, service }
  const used = new WeakMap<object, string>()
  let offsetMs = 0

  return {
    async authorize(call, signal) {
      const value = await source.get(signal)
      const headers = await signedHeaders(call, credentialsOf(value), scope, Date.now() + offsetMs)
      used.set(headers, value)
      return headers
    },
    refused(headers, { status, kind, serverTimeMs }) {
      if (UNTIMELY.test(kind) && serverTimeMs !== undefined) {
        const next = serverTimeMs - Date.now()
        if (Math.abs(next - offsetMs) < TOLERATED_SKEW_MS) return false
        offsetMs = next
        return true
      }
      if (status !== UNAUTHORIZED && !ENDED.test(kind)) return false
      return isRenewed(identity) && source.drop(used.get(headers) ?? '')
    },
    warm: source.warm,
    status: source.status,
  }
}

function serviceAt(baseUrl: string): string {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : ''
  return MANTLE_HOST.test(host) ? 'bedrock-mantle' : 'bedrock'
}
