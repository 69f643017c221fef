import { readFile } from 'node:fs/promises'
import { type Authorizer, CredentialError } from '@/dialects/credentials/authorizer'
import { bearerToken, requestToken } from '@/dialects/credentials/request-token'
import { createTokenSource, sharedSource, type Token } from '@/dialects/credentials/token-source'

type EntraIdentity = {
  /** The scope of tokens; undefined: derived from the provider's address. */
  scope?: string
} & (Application | ManagedIdentity)

type Application = {
  tenant: string
  clientId: string
  authority?: string
  clientSecret?: string
  federatedTokenFile?: string
}

type ManagedIdentity = {
  managedIdentity: true
  /** The client id of the identity to use, if the machine has several. */
  clientId?: string
  /** The platform's token endpoint; default: that of virtual machines. With `identitySecret`, requests have the form of App Service. */
  identityEndpoint?: string
  identitySecret?: string
}

const AUTHORITY = 'https://login.microsoftonline.com'
const MACHINE_ENDPOINT = 'http://169.254.169.254/metadata/identity/oauth2/token'
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const SCOPE = 'https://cognitiveservices.azure.com/.default'
const FOUNDRY_SCOPE = 'https://ai.azure.com/.default'
const FOUNDRY_HOST = /\.services\.ai\.azure\.[a-z]+$/

/** Microsoft Entra ID tokens for `baseUrl`: for an application's secret, a workload's token file, or a machine's managed identity. */
export function entra(identity: EntraIdentity, baseUrl: string): Authorizer {
  const scope = identity.scope ?? scopeAt(baseUrl)
  const fetchToken = () => ('tenant' in identity ? applicationToken(identity, scope) : machineToken(identity, scope))
  return bearerToken(sharedSource(['entra', identity, scope], () => createTokenSource({ fetchToken })))
}

function scopeAt(baseUrl: string): string {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : ''
  return FOUNDRY_HOST.test(host) ? FOUNDRY_SCOPE : SCOPE
}

async function applicationToken(application: Application, scope: string): Promise<Token> {
  const { tenant, clientId, authority = AUTHORITY, clientSecret, federatedTokenFile } = application
  const proof: Record<string, string> =
    federatedTokenFile === undefined
      ? { client_secret: clientSecret ?? '' }
      : { client_assertion_type: ASSERTION_TYPE, client_assertion: await readAssertion(federatedTokenFile) }
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, scope, ...proof })
  const url = `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`
  return requestToken('the Entra token endpoint', url, { method: 'POST', body: form })
}

/** The workload's token. The file is read each time, since the platform replaces it long before it expires. */
async function readAssertion(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch {
    throw new CredentialError('the federated token file cannot be read')
  }
}

function machineToken(identity: ManagedIdentity, scope: string): Promise<Token> {
  const { clientId, identityEndpoint = MACHINE_ENDPOINT, identitySecret } = identity
  const query = new URLSearchParams({
    'api-version': identitySecret === undefined ? '2018-02-01' : '2019-08-01',
    resource: scope.replace(/\/\.default$/, ''),
    ...(clientId !== undefined && { client_id: clientId }),
  })
  const headers: Record<string, string> =
    identitySecret === undefined ? { metadata: 'true' } : { 'x-identity-header': identitySecret }
  return requestToken('the managed identity endpoint', `${identityEndpoint}?${query}`, { headers })
}
