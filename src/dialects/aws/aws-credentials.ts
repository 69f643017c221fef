/** Gets AWS credentials: from the catalogue entry, a profile, container, machine or web identity. May assume a role with them. */
import { readFile } from 'node:fs/promises'
import { CredentialError } from '@/dialects/credentials/authorizer'
import { ask } from '@/dialects/credentials/request-token'
import type { Token } from '@/dialects/credentials/token-source'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { type ProfileSource, portalCredentials, printedCredentials, profileSource } from './profile'
import { type AwsCredentials, signedHeaders } from './signature'

export type AwsIdentity = Source & {
  region: string
  /** A role to assume with these credentials. */
  assumeRoleArn?: string
  externalId?: string
  /** The address of STS, without trailing slash; undefined: the region's. */
  stsEndpoint?: string
  /** The address of the SSO portal; undefined: the region's. */
  ssoEndpoint?: string
}

type Source =
  | { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  | { profile: string; credentialsFile: string; configFile?: string }
  | { roleArn: string; webIdentityTokenFile: string }
  | { container: string; containerToken?: string; containerTokenFile?: string }
  | { instance: true; instanceEndpoint?: string }

/** The host for ECS containers, if only the path is given. */
const CONTAINER_HOST = 'http://169.254.170.2'
const INSTANCE_ENDPOINT = 'http://169.254.169.254'
const INSTANCE_PATH = '/latest/meta-data/iam/security-credentials/'
const SESSION_NAME = 'svc-gateway'
const STS_VERSION = '2011-06-15'
/** Files are read again at this interval, so that rotated keys need no restart. */
const FILE_LIFE_MS = 300_000

/** The current credentials, as the JSON of {@link AwsCredentials}. */
export async function fetchCredentials(identity: AwsIdentity): Promise<Token> {
  const own = await sourceCredentials(identity)
  return identity.assumeRoleArn === undefined ? own : assumedRole(identity, identity.assumeRoleArn, own)
}

/** Whether the credentials can change while the gateway runs. */
export function isRenewed(identity: AwsIdentity): boolean {
  return !('accessKeyId' in identity) || identity.assumeRoleArn !== undefined
}

async function sourceCredentials(identity: AwsIdentity): Promise<Token> {
  if ('accessKeyId' in identity) {
    const { accessKeyId, secretAccessKey, sessionToken } = identity
    return token(
      { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
      Number.POSITIVE_INFINITY,
    )
  }
  if ('profile' in identity) {
    const { credentialsFile, configFile = '' } = identity
    const texts = [credentialsFile, configFile].map((path) => readFile(path, 'utf8').catch(() => ''))
    const [credentials = '', config = ''] = await Promise.all(texts)
    return profileToken(identity, configFile, profileSource(credentials, config, identity.profile))
  }
  if ('roleArn' in identity) {
    const { roleArn, webIdentityTokenFile } = identity
    // The platform replaces the token file before the token expires, so it is read each time.
    const webToken = await readText(webIdentityTokenFile, 'the web identity token file')
    return askSts(identity, {
      ...{ Action: 'AssumeRoleWithWebIdentity', RoleArn: roleArn, RoleSessionName: SESSION_NAME },
      WebIdentityToken: webToken,
    })
  }
  return 'container' in identity ? containerCredentials(identity) : machineCredentials(identity)
}

/** A profile's credentials. Fixed keys get an early expiry, so that the profile's files are read again. */
async function profileToken(identity: AwsIdentity, configFile: string, source: ProfileSource): Promise<Token> {
  if ('accessKeyId' in source) return token(source, Date.now() + FILE_LIFE_MS)
  if ('from' in source) {
    const own = await profileToken(identity, configFile, source.from)
    return assumedRole({ ...identity, ...source }, source.assumeRoleArn, own)
  }
  if ('command' in source) {
    const { status, atMs, fields } = await printedCredentials(source.command)
    return given('the credential process', status, atMs, fields, Date.now() + FILE_LIFE_MS)
  }
  if ('session' in source) {
    const { status, atMs, fields } = await portalCredentials(source, configFile, identity.ssoEndpoint)
    return given('the sign-on portal', status, atMs, fields)
  }
  const { region, stsEndpoint } = identity
  return sourceCredentials({ region, ...(stsEndpoint !== undefined && { stsEndpoint }), ...source })
}

async function containerCredentials(source: Extract<Source, { container: string }>): Promise<Token> {
  const { container, containerToken, containerTokenFile } = source
  const authorization =
    containerTokenFile === undefined ? containerToken : await readText(containerTokenFile, 'the container token file')
  const url = container.startsWith('/') ? CONTAINER_HOST + container : container
  return asked('the container credentials endpoint', url, { ...(authorization !== undefined && { authorization }) })
}

/** The machine's credentials. Uses IMDSv2 with a session token, because forged requests can misuse IMDSv1. */
async function machineCredentials({ instanceEndpoint = INSTANCE_ENDPOINT }: { instanceEndpoint?: string }) {
  const what = 'the instance metadata service'
  const session = await ask(what, `${instanceEndpoint}/latest/api/token`, {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' },
  })
  if (session.status !== 200) throw new CredentialError(`${what} answered ${session.status} without a session`)
  const headers = { 'x-aws-ec2-metadata-token': session.text.trim() }
  const roles = await ask(what, instanceEndpoint + INSTANCE_PATH, { headers })
  const [role = ''] = roles.text.trim().split('\n')
  if (roles.status !== 200 || role === '') throw new CredentialError(`${what} knows no role of this machine`)
  return asked(what, `${instanceEndpoint}${INSTANCE_PATH}${encodeURIComponent(role.trim())}`, headers)
}

/** Requests credentials of a container or machine, which answer in the same form. */
async function asked(what: string, url: string, headers: Record<string, string>): Promise<Token> {
  const { status, text, atMs } = await ask(what, url, { headers })
  const answer = parseJson(text)
  const fields: JsonObject = status === 200 && isJsonObject(answer) ? answer : {}
  return given(what, status, atMs, [fields.AccessKeyId, fields.SecretAccessKey, fields.Token, fields.Expiration])
}

async function assumedRole(identity: AwsIdentity, roleArn: string, own: Token): Promise<Token> {
  const { externalId } = identity
  const form = {
    ...{ Action: 'AssumeRole', RoleArn: roleArn, RoleSessionName: SESSION_NAME },
    ...(externalId !== undefined && { ExternalId: externalId }),
  }
  return askSts(identity, form, own)
}

async function askSts(identity: AwsIdentity, form: Record<string, string>, own?: Token): Promise<Token> {
  const { region, stsEndpoint = `https://sts.${region}.amazonaws.com` } = identity
  const what = 'the STS endpoint'
  const url = `${stsEndpoint}/`
  const body = new URLSearchParams({ ...form, Version: STS_VERSION }).toString()
  const plain = { 'content-type': 'application/x-www-form-urlencoded' }
  const headers = own
    ? await signedHeaders(
        { url, headers: plain, body },
        credentialsOf(own.value),
        { region, service: 'sts' },
        Date.now(),
      )
    : plain
  const { status, text, atMs } = await ask(what, url, { method: 'POST', headers, body })
  const field = (name: string) => new RegExp(`<${name}>([^<]{1,8192})</${name}>`).exec(text)?.[1]
  const fields = ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration'].map(field)
  return given(what, status, atMs, status === 200 ? fields : [])
}

/** An answer's credentials. `Expiration` is by the endpoint's clock. `keptUntilMs`: how long to keep credentials without an expiration. */
function given(
  what: string,
  status: number,
  atMs: number,
  [id, secret, session, until]: unknown[],
  keptUntilMs?: number,
): Token {
  if (isWord(id) && isWord(secret)) {
    const lifeMs = Date.parse(String(until)) - atMs
    if (isWord(session) && lifeMs > 0) {
      return token({ accessKeyId: id, secretAccessKey: secret, sessionToken: session }, Date.now() + lifeMs)
    }
    const isLasting = keptUntilMs !== undefined && until === undefined
    if (isLasting) {
      const sessionToken = isWord(session) ? { sessionToken: session } : {}
      return token({ accessKeyId: id, secretAccessKey: secret, ...sessionToken }, keptUntilMs)
    }
  }
  throw new CredentialError(`${what} answered${status > 0 ? ` ${status}` : ''} without credentials`)
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)
}

function token(credentials: AwsCredentials, expiresAtMs: number): Token {
  return { value: JSON.stringify(credentials), expiresAtMs }
}

/** Parses a token of {@link fetchCredentials}. */
export function credentialsOf(value: string): AwsCredentials {
  return JSON.parse(value) as AwsCredentials
}

async function readText(path: string, what: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch {
    throw new CredentialError(`${what} cannot be read`)
  }
}
