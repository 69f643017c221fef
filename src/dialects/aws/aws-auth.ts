import type { Authorizer } from '@/dialects/credentials/authorizer'
import { createTokenSource, sharedSource } from '@/dialects/credentials/token-source'
import { type AwsIdentity, credentialsOf, fetchCredentials, isRenewed } from './aws-credentials'
import { bedrockKey, KEY_LIFE_MS, signedHeaders } from './signature'

/** Error codes for expired or invalid credentials. */
const ENDED = /^(?:ExpiredToken(?:Exception)?|UnrecognizedClientException|InvalidClientTokenId)$/
/** Error codes that a wrong clock may cause. */
const UNTIMELY = /^(?:InvalidSignatureException|SignatureDoesNotMatch|RequestTimeTooSkewed|RequestExpired)$/
/** Minimum clock difference that can be the cause of a refusal. */
const TOLERATED_SKEW_MS = 60_000
const UNAUTHORIZED = 401
const MANTLE_HOST = /^bedrock-mantle\./

type Options = {
  /** The service name in signatures; undefined: derived from the address. */
  service?: string | undefined
  /** Whether calls use a bearer key derived from the credentials, which avoids signing each body. */
  bearer?: true | undefined
}

/** Signs calls for AWS at `baseUrl` as `identity`: with current credentials, and with AWS' clock if ours is wrong. */
export function awsAuth(identity: AwsIdentity, baseUrl: string, options: Options = {}): Authorizer {
  const { service = serviceAt(baseUrl), bearer } = options
  const fetchToken = () => fetchCredentials(identity)
  const source = sharedSource(['aws', identity], () => createTokenSource({ fetchToken }))
  const scope = { region: identity.region, service }
  const used = new WeakMap<object, string>()
  let offsetMs = 0
  let made: { value: string; key: Promise<string>; untilMs: number } | undefined

  /** The bearer key. All calls share it until the credentials change or half its lifetime is over. */
  function keyOf(value: string, nowMs: number): Promise<string> {
    if (made?.value !== value || nowMs >= made.untilMs) {
      const key = bedrockKey(credentialsOf(value), identity.region, nowMs)
      made = { value, key, untilMs: nowMs + KEY_LIFE_MS / 2 }
    }
    return made.key
  }

  return {
    async authorize(call, signal) {
      const value = await source.get(signal)
      const nowMs = Date.now() + offsetMs
      const headers = bearer
        ? { ...call.headers, authorization: `Bearer ${await keyOf(value, nowMs)}` }
        : await signedHeaders(call, credentialsOf(value), scope, nowMs)
      used.set(headers, value)
      return headers
    },
    refused(headers, { status, kind, serverTimeMs }) {
      if (UNTIMELY.test(kind) && serverTimeMs !== undefined) {
        const next = serverTimeMs - Date.now()
        if (Math.abs(next - offsetMs) < TOLERATED_SKEW_MS) return false
        offsetMs = next
        made = undefined
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
