/** Tokens of Google Cloud: for a service account by its key, and for the one that the machine's metadata server knows. */
import { createPrivateKey, sign } from 'node:crypto'
import type { Authorizer } from '@/dialects/credentials/authorizer'
import { bearerToken } from '@/dialects/credentials/bearer-token'
import { requestToken } from '@/dialects/credentials/request-token'
import { sharedSource } from '@/dialects/credentials/shared-sources'
import { createTokenSource, type Token } from '@/dialects/credentials/token-source'
import { isJsonObject, parseJson } from '@/lib/json'

/** Who the gateway is, as a provider's entry says it: `credentials` is the text of a service account's key file. */
type GoogleIdentity = { credentials: string } | { metadataServer: true; metadataHost?: string }

/** What of a key file is needed. */
type ServiceAccount = { email: string; key: string; keyId: string | undefined; tokenUrl: string }

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const TOKEN_URL = 'https://oauth2.googleapis.com/token'
const METADATA_HOST = 'metadata.google.internal'
const TOKEN_PATH = '/computeMetadata/v1/instance/service-accounts/default/token'
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const FLAVOR = { name: 'metadata-flavor', value: 'Google' }
const LIFE_SECONDS = 3600

/** Authorizes calls as `identity`; undefined where its credentials are no key of a service account. */
export function googleAuth(identity: GoogleIdentity): Authorizer | undefined {
  if (!('credentials' in identity)) {
    const { metadataHost = METADATA_HOST } = identity
    const fetchToken = () => machineToken(metadataHost)
    return bearerToken(sharedSource(['google', metadataHost], () => createTokenSource({ fetchToken })))
  }
  const account = readServiceAccount(identity.credentials)
  if (!account) return undefined
  const fetchToken = () => accountToken(account)
  return bearerToken(sharedSource(['google', account], () => createTokenSource({ fetchToken })))
}

function readServiceAccount(text: string): ServiceAccount | undefined {
  const file = parseJson(text)
  if (!isJsonObject(file)) return undefined
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

/** The account proves itself by a claim that it has signed. */
async function accountToken({ email, key, keyId, tokenUrl }: ServiceAccount): Promise<Token> {
  const nowSeconds = Math.floor(Date.now() / 1000)
  const claim = { iss: email, scope: SCOPE, aud: tokenUrl, iat: nowSeconds, exp: nowSeconds + LIFE_SECONDS }
  const head = { alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) }
  const signed = [head, claim].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')
  const form = new URLSearchParams({ grant_type: GRANT_TYPE, assertion: `${signed}.${signature}` })
  return requestToken('the Google token endpoint', tokenUrl, { method: 'POST', body: form })
}

/** Only who answers with its header is the metadata server, and not whoever else took its name. */
function machineToken(host: string): Promise<Token> {
  const url = `http://${host}${TOKEN_PATH}?scopes=${encodeURIComponent(SCOPE)}`
  const headers = { [FLAVOR.name]: FLAVOR.value }
  return requestToken('the Google metadata server', url, { headers }, FLAVOR)
}
