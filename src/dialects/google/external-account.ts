/** Workload identity federation: exchanges a platform's token for a Google token, and that for a service account's if configured. */
import { readFile } from 'node:fs/promises'
import { CredentialError } from '@/dialects/credentials/authorizer'
import { ask, requestToken } from '@/dialects/credentials/request-token'
import type { Token } from '@/dialects/credentials/token-source'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'

type ExternalAccount = {
  audience: string
  tokenType: string
  tokenUrl: string
  source: { file: string } | { url: string; headers: Record<string, string> }
  /** The field of the source's JSON that contains the token; undefined if the source is only the token. */
  field: string | undefined
  impersonation: { url: string; lifeSeconds: number } | undefined
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const LIFE_SECONDS = 3600

/** Parses the configuration. Undefined if `file` is another kind of file, or names a token source other than a file or URL. */
export function readExternalAccount(file: JsonObject): ExternalAccount | undefined {
  const { audience, subject_token_type: tokenType, token_url: tokenUrl, credential_source: from } = file
  const url = file.service_account_impersonation_url
  const life = isJsonObject(file.service_account_impersonation) ? file.service_account_impersonation : {}
  const source = isJsonObject(from) ? sourceIn(from) : undefined
  if (typeof audience !== 'string' || typeof tokenType !== 'string' || !isAddress(tokenUrl) || !source) return undefined
  if (url !== undefined && !isAddress(url)) return undefined
  const lifeSeconds = Number(life.token_lifetime_seconds ?? LIFE_SECONDS)
  return {
    ...source,
    audience,
    tokenType,
    tokenUrl,
    impersonation: url === undefined ? undefined : { url, lifeSeconds },
  }
}

function sourceIn({
  file,
  url,
  headers,
  format,
  environment_id: environment,
}: JsonObject): Pick<ExternalAccount, 'source' | 'field'> | undefined {
  const { type = 'text', subject_token_field_name: name } = isJsonObject(format) ? format : {}
  const field = type === 'json' && typeof name === 'string' ? name : undefined
  if (type !== 'text' && field === undefined) return undefined
  if (typeof file === 'string') return { source: { file }, field }
  // An AWS configuration has an environment id and a URL, but this URL returns no token.
  if (!isAddress(url) || environment !== undefined) return undefined
  const texts = Object.entries(isJsonObject(headers) ? headers : {}).map(([key, value]) => [key, String(value)])
  return { source: { url, headers: Object.fromEntries(texts) }, field }
}

function isAddress(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && URL.canParse(value) && /^https?:/.test(value)
}

/** Requests a token as `account`. */
export async function externalToken(account: ExternalAccount): Promise<Token> {
  const form = new URLSearchParams({
    ...{ grant_type: GRANT_TYPE, audience: account.audience, scope: SCOPE, requested_token_type: ACCESS_TOKEN },
    ...{ subject_token: await subjectToken(account), subject_token_type: account.tokenType },
  })
  const federated = await requestToken('the Google STS endpoint', account.tokenUrl, { method: 'POST', body: form })
  if (!account.impersonation) return federated
  const { url, lifeSeconds } = account.impersonation
  return requestToken('the Google impersonation endpoint', url, {
    method: 'POST',
    headers: { authorization: `Bearer ${federated.value}`, 'content-type': 'application/json' },
    body: JSON.stringify({ scope: [SCOPE], lifetime: `${lifeSeconds}s` }),
  })
}

/** The platform's token. It is read each time, since the platform replaces it before it expires. */
async function subjectToken({ source, field }: ExternalAccount): Promise<string> {
  const text = 'file' in source ? await readToken(source.file) : await fetchToken(source)
  const json = field === undefined ? undefined : parseJson(text)
  const token = field === undefined ? text.trim() : isJsonObject(json) && json[field]
  if (typeof token === 'string' && token !== '') return token
  throw new CredentialError('the source of the subject token has none')
}

function readToken(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => {
    throw new CredentialError('the file of the subject token cannot be read')
  })
}

async function fetchToken({ url, headers }: { url: string; headers: Record<string, string> }): Promise<string> {
  const { status, text } = await ask('the source of the subject token', url, { headers })
  if (status !== 200) throw new CredentialError(`the source of the subject token answered ${status}`)
  return text
}
