import { createPrivateKey, sign } from 'node:crypto'
import { type Authorizer, CredentialError } from '@/dialects/credentials/authorizer'
import { bearerToken, requestToken } from '@/dialects/credentials/request-token'
import { createTokenSource, sharedSource, type Token } from '@/dialects/credentials/token-source'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { externalToken, readExternalAccount } from './external-account'

type GoogleIdentity = { credentials: string } | { metadataHost?: string }

type ServiceAccount = { email: string; key: string; keyId: string | undefined; tokenUrl: string }

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const TOKEN_URL = 'https://oauth2.googleapis.com/token'
const METADATA_HOST = 'metadata.google.internal'
const TOKEN_PATH = '/computeMetadata/v1/instance/service-accounts/default/token'
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const FLAVOR = { name: 'metadata-flavor', value: 'Google' }
const LIFE_SECONDS = 3600
/** Minimum clock difference that can be the reason why Google refuses a claim. */
const TOLERATED_SKEW_MS = 30_000

/** Google Cloud tokens: by a service account's key, metadata server, or workload identity; undefined for other credentials. */
export function googleAuth(identity: GoogleIdentity): Authorizer | undefined {
  if (!('credentials' in identity)) {
    const { metadataHost = METADATA_HOST } = identity
    return authorizerOf(metadataHost, () => machineToken(metadataHost))
  }
  const file = parseJson(identity.credentials)
  if (!isJsonObject(file)) return undefined
  if (file.type === 'external_account') {
    const external = readExternalAccount(file)
    return external && authorizerOf(external, () => externalToken(external))
  }
  const account = readServiceAccount(file)
  return account && authorizerOf(account, () => accountToken(account))
}

function authorizerOf(identity: unknown, fetchToken: () => Promise<Token>): Authorizer {
  return bearerToken(sharedSource(['google', identity], () => createTokenSource({ fetchToken })))
}

function readServiceAccount(file: JsonObject): ServiceAccount | undefined {
  const { type, client_email: email, private_key: key, private_key_id: keyId, token_uri: tokenUrl = TOKEN_URL } = file
  if (type !== 'service_account' || typeof email !== 'string' || typeof key !== 'string') return undefined
  if (typeof tokenUrl !== 'string' || !URL.canParse(tokenUrl)) return undefined
  try {
    if (createPrivateKey(key).asymmetricKeyType !== 'rsa') return undefined
  } catch {
    return undefined
  }
  return { email, key, keyId: typeof keyId === 'string' ? keyId : undefined, tokenUrl }
}

/** Requests a token with a claim that the account signs. If our clock is wrong, signs a second claim with Google's time. */
async function accountToken(account: ServiceAccount): Promise<Token> {
  const nowMs = Date.now()
  try {
    return await claimToken(account, nowMs)
  } catch (error) {
    if (!(error instanceof CredentialError) || error.atMs === undefined) throw error
    if (Math.abs(error.atMs - nowMs) < TOLERATED_SKEW_MS) throw error
    return claimToken(account, error.atMs)
  }
}

function claimToken({ email, key, keyId, tokenUrl }: ServiceAccount, atMs: number): Promise<Token> {
  const nowSeconds = Math.floor(atMs / 1000)
  const claim = { iss: email, scope: SCOPE, aud: tokenUrl, iat: nowSeconds, exp: nowSeconds + LIFE_SECONDS }
  const head = { alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) }
  const signed = [head, claim].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')
  const form = new URLSearchParams({ grant_type: GRANT_TYPE, assertion: `${signed}.${signature}` })
  return requestToken('the Google token endpoint', tokenUrl, { method: 'POST', body: form })
}

/** Requests a token from the metadata server. The header in its response proves that it is no other server with that name. */
function machineToken(host: string): Promise<Token> {
  const url = `http://${host}${TOKEN_PATH}?scopes=${encodeURIComponent(SCOPE)}`
  const headers = { [FLAVOR.name]: FLAVOR.value }
  return requestToken('the Google metadata server', url, { headers }, FLAVOR)
}
