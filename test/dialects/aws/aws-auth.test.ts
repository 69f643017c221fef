/** AWS credentials of a provider entry: their sources, how often they are fetched, and what a refusal leads to. */
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callTarget, targetOfEntry } from '@test/dialects/provider-entry'
import { type Respond, type ScriptedUpstream, startUpstream, type UpstreamCall } from '@test/support/upstream'
import { signedHeaders } from '@/dialects/aws/signature'
import type { JsonObject } from '@/lib/json'

const SECRET = 'secret-canary+/0123456789'
const SESSION = 'session-canary=='
const KEYS = { accessKeyId: 'AKIDCANARY', secretAccessKey: SECRET }

const opened: ScriptedUpstream[] = []
const folders: string[] = []
afterEach(async () => {
  for (const server of opened.splice(0)) server.stop()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

function serve(respond: Respond): ScriptedUpstream {
  const server = startUpstream(respond)
  opened.push(server)
  return server
}

async function fileOf(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-aws-'))
  folders.push(folder)
  const path = join(folder, 'file')
  await Bun.write(path, text)
  return path
}

/** A provider of `auth` at `upstream`, as the environment has it. */
function target(upstream: ScriptedUpstream, auth: JsonObject, environment: Record<string, string> = {}) {
  const entry = {
    format: 'messages',
    baseUrl: `${upstream.url}/anthropic`,
    auth: { type: 'aws', region: 'eu-west-1', ...auth },
  }
  return targetOfEntry(entry, 'the-model', environment)
}

/** Whether the call carries the signature of its own bytes by these credentials; the recorder computes it anew from what arrived. */
async function isSignedBy(
  call: UpstreamCall | undefined,
  upstream: ScriptedUpstream,
  credentials: typeof KEYS & { sessionToken?: string },
) {
  const authorization = call?.headers.get('authorization') ?? ''
  const date = call?.headers.get('x-amz-date') ?? ''
  const atMs = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  const [, , , service = ''] = /Credential=([^,]+)/.exec(authorization)?.[1]?.split('/') ?? []
  const outgoing = { url: upstream.url + call?.path, headers: {}, body: call?.text ?? '' }
  const again = await signedHeaders(outgoing, credentials, { region: 'eu-west-1', service }, atMs)
  return (
    again.authorization === authorization &&
    (call?.headers.get('x-amz-security-token') ?? undefined) === credentials.sessionToken
  )
}

const accepted = () => Response.json({})
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()
/** What containers and machines are given. */
const given = (index = 0) =>
  Response.json({ AccessKeyId: `ASIA${index}`, SecretAccessKey: SECRET, Token: SESSION, Expiration: inAnHour() })
const bySts = (action: string) =>
  new Response(
    `<${action}Response><${action}Result><Credentials><AccessKeyId>ASIASTS</AccessKeyId><SecretAccessKey>${SECRET}</SecretAccessKey>` +
      `<SessionToken>${SESSION}</SessionToken><Expiration>${inAnHour()}</Expiration></Credentials></${action}Result></${action}Response>`,
  )
const TEMPORARY = { accessKeyId: 'ASIA0', secretAccessKey: SECRET, sessionToken: SESSION }

describe('sources of credentials', () => {
  test('AWS credentials come from the provider entry’s keys, with and without a session token', async () => {
    const upstream = serve(accepted)
    await callTarget(target(upstream, KEYS), { body: { text: 'Grüße' } })
    await callTarget(target(upstream, { ...KEYS, sessionToken: SESSION }))
    expect(await isSignedBy(upstream.calls[0], upstream, KEYS)).toBe(true)
    expect(await isSignedBy(upstream.calls[1], upstream, { ...KEYS, sessionToken: SESSION })).toBe(true)
    expect(upstream.calls[0]?.headers.get('authorization')).toContain('/eu-west-1/bedrock/aws4_request')
    expect(upstream.calls[0]?.headers.has('x-api-key')).toBe(false)
  })

  test('E17: credentials come from environment variables, in the order of AWS’ tools', async () => {
    const upstream = serve(accepted)
    const keys = { AWS_ACCESS_KEY_ID: KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: SECRET, AWS_SESSION_TOKEN: SESSION }
    await callTarget(target(upstream, {}, keys))
    const path = await fileOf(
      `[other]\naws_access_key_id = no\n[mine]\naws_access_key_id = FILE\naws_secret_access_key = ${SECRET}\n`,
    )
    await callTarget(target(upstream, {}, { ...keys, AWS_PROFILE: 'mine', AWS_SHARED_CREDENTIALS_FILE: path }))
    expect(await isSignedBy(upstream.calls[0], upstream, { ...KEYS, sessionToken: SESSION })).toBe(true)
    expect(await isSignedBy(upstream.calls[1], upstream, { accessKeyId: 'FILE', secretAccessKey: SECRET })).toBe(true)
  })

  test('E17: IRSA sends the current web identity to STS for credentials', async () => {
    const upstream = serve(accepted)
    const sts = serve(() => bySts('AssumeRoleWithWebIdentity'))
    const environment = {
      AWS_ROLE_ARN: 'arn:aws:iam::1:role/r',
      AWS_WEB_IDENTITY_TOKEN_FILE: await fileOf('web.token\n'),
    }
    await callTarget(target(upstream, { stsEndpoint: sts.url }, environment))
    expect(await isSignedBy(upstream.calls[0], upstream, { ...TEMPORARY, accessKeyId: 'ASIASTS' })).toBe(true)
    expect(Object.fromEntries(new URLSearchParams(sts.calls[0]?.text))).toEqual({
      ...{ Action: 'AssumeRoleWithWebIdentity', RoleArn: environment.AWS_ROLE_ARN, RoleSessionName: 'svc-gateway' },
      ...{ WebIdentityToken: 'web.token', Version: '2011-06-15' },
    })
    expect(sts.calls[0]?.headers.has('authorization')).toBe(false)
  })

  test('E17: credentials come from a container’s endpoint, with its token', async () => {
    const upstream = serve(accepted)
    const endpoint = serve(() => given())
    const environment = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${endpoint.url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: await fileOf('pod-token\n'),
    }
    await callTarget(target(upstream, {}, environment))
    expect(await isSignedBy(upstream.calls[0], upstream, TEMPORARY)).toBe(true)
    expect(endpoint.calls.map(({ path, headers }) => [path, headers.get('authorization')])).toEqual([
      ['/v1/credentials', 'pod-token'],
    ])
  })

  test('E17: credentials come from IMDSv2, with session and role', async () => {
    const upstream = serve(accepted)
    const imds = serve(({ path }) => {
      if (path === '/latest/api/token') return new Response('imds-session')
      return path.endsWith('/') ? new Response('the-role\n') : given()
    })
    await callTarget(target(upstream, { instance: true, instanceEndpoint: imds.url }))
    expect(await isSignedBy(upstream.calls[0], upstream, TEMPORARY)).toBe(true)
    const shown = imds.calls.map(({ path, headers }) => [path, headers.get('x-aws-ec2-metadata-token')])
    const folder = '/latest/meta-data/iam/security-credentials/'
    expect(shown).toEqual([
      ['/latest/api/token', null],
      [folder, 'imds-session'],
      [`${folder}the-role`, 'imds-session'],
    ])
  })

  test('AWS credentials of an assumed role come from a signed call to STS', async () => {
    const upstream = serve(accepted)
    const sts = serve(() => bySts('AssumeRole'))
    await callTarget(
      target(upstream, { ...KEYS, assumeRoleArn: 'arn:aws:iam::2:role/b', externalId: 'x', stsEndpoint: sts.url }),
    )
    expect(await isSignedBy(upstream.calls[0], upstream, { ...TEMPORARY, accessKeyId: 'ASIASTS' })).toBe(true)
    expect(await isSignedBy(sts.calls[0], sts, KEYS)).toBe(true)
    expect(sts.calls[0]?.text).toContain('ExternalId=x')
  })
})

test('E17: fifty concurrent first calls fetch credentials once', async () => {
  const upstream = serve(accepted)
  const endpoint = serve(() => given())
  const one = target(upstream, { container: `${endpoint.url}/fifty` })
  await Promise.all(Array.from({ length: 50 }, () => callTarget(one)))
  expect(upstream.calls).toHaveLength(50)
  expect(endpoint.calls).toHaveLength(1)
})

test('E17: if an endpoint is unreachable or has no credentials, the call fails, and the error has no secret', async () => {
  const upstream = serve(accepted)
  const bodies = [
    new Response(`no ${SECRET}`, { status: 500 }),
    Response.json({ SecretAccessKey: SECRET }),
    new Response('<html>'),
  ]
  const endpoint = serve((_, index) => bodies[index] ?? new Response())
  for (const [index] of bodies.entries()) {
    const result = await callTarget(target(upstream, { container: `${endpoint.url}/dead-${index}` }))
    expect(result).toMatchObject({ kind: 'failed', failure: { kind: 'unreachable', isUnheard: true } })
    expect(JSON.stringify(result)).not.toContain('canary')
  }
  expect(upstream.calls).toEqual([])
})

describe('a refusal by AWS', () => {
  const refusing = (kind: string, headers: Record<string, string> = {}) =>
    Response.json({ error: { type: kind, message: 'no' } }, { status: 403, headers })

  test('E18: a call refused for expired credentials is repeated once with new ones', async () => {
    const upstream = serve((_, index) => (index === 0 ? refusing('ExpiredTokenException') : accepted()))
    const endpoint = serve((_, index) => given(index))
    await callTarget(target(upstream, { container: `${endpoint.url}/ended` }))
    expect(endpoint.calls).toHaveLength(2)
    expect(await isSignedBy(upstream.calls[1], upstream, { ...TEMPORARY, accessKeyId: 'ASIA1' })).toBe(true)
  })

  test('E18: a second refusal is final, and so is a refusal of fixed keys or a missing permission', async () => {
    const upstream = serve(() => refusing('ExpiredTokenException'))
    const endpoint = serve((_, index) => given(index))
    await callTarget(target(upstream, { container: `${endpoint.url}/twice` }))
    expect(upstream.calls).toHaveLength(2)
    await callTarget(target(upstream, KEYS))
    expect(upstream.calls).toHaveLength(3)
    upstream.respond(() => refusing('AccessDeniedException'))
    await callTarget(target(upstream, { container: `${endpoint.url}/denied` }))
    expect(upstream.calls).toHaveLength(4)
  })

  test('a call refused for a wrong clock is repeated with AWS’ time, which is remembered', async () => {
    const server = new Date('2031-05-06T07:08:09Z')
    const upstream = serve((_, index) =>
      index === 0 ? refusing('InvalidSignatureException', { date: server.toUTCString() }) : accepted(),
    )
    const one = target(upstream, KEYS)
    await callTarget(one)
    await callTarget(one)
    const days = upstream.calls.map(({ headers }) => headers.get('x-amz-date')?.slice(0, 8))
    expect(days.slice(1)).toEqual(['20310506', '20310506'])
    expect(await isSignedBy(upstream.calls[1], upstream, KEYS)).toBe(true)
  })

  test('a call refused for its time although our clock is correct is not repeated', async () => {
    const upstream = serve(() => refusing('InvalidSignatureException', { date: new Date().toUTCString() }))
    await callTarget(target(upstream, KEYS))
    expect(upstream.calls).toHaveLength(1)
  })
})

test('E18: one Bedrock key is made for each set of credentials', async () => {
  const upstream = serve((_, index) =>
    index === 2 ? Response.json({ error: { type: 'ExpiredTokenException' } }, { status: 403 }) : accepted(),
  )
  const endpoint = serve((_, index) => given(index))
  const one = target(upstream, { container: `${endpoint.url}/bearer`, bearer: true })
  for (let call = 0; call < 3; call++) await callTarget(one)
  const keys = upstream.calls.map(({ headers }) => headers.get('authorization') ?? '')
  expect(keys[1]).toBe(keys[0] ?? '')
  expect(keys[2]).toBe(keys[0] ?? '')
  const shown = [keys[0], keys[3]].map((key = '') =>
    Buffer.from(key.replace('Bearer bedrock-api-key-', ''), 'base64').toString(),
  )
  const [first, second] = shown.map((address) => new URL(`https://${address}`).searchParams)
  expect(first?.get('X-Amz-Credential')).toMatch(/^ASIA0\/\d{8}\/eu-west-1\/bedrock\/aws4_request$/)
  expect(second?.get('X-Amz-Credential')).toStartWith('ASIA1/')
  expect(first?.get('X-Amz-Security-Token')).toBe(SESSION)
  expect(endpoint.calls).toHaveLength(2)
})

test('E10: the service in the signature follows from the address, unless the entry names it', async () => {
  const services = ['https://bedrock-mantle.eu-west-1.api.aws', 'https://bedrock-runtime.eu-west-1.amazonaws.com'].map(
    async (baseUrl) => {
      const auth = { type: 'aws', region: 'eu-west-1', ...KEYS }
      const { authorizer } = targetOfEntry({ format: 'messages', baseUrl, auth }).provider.dialect
      const call = { url: baseUrl, headers: {}, body: '' }
      const headers = await authorizer?.authorize(call, new AbortController().signal)
      return headers?.authorization?.split('/')[3]
    },
  )
  expect(await Promise.all(services)).toEqual(['bedrock-mantle', 'bedrock'])
  const upstream = serve(accepted)
  await callTarget(target(upstream, { ...KEYS, service: 'bedrock-mantle' }))
  expect(upstream.calls[0]?.headers.get('authorization')).toContain('/bedrock-mantle/')
})

test('E1: an entry without region, or with two kinds of credentials, is refused by name', () => {
  const entry = { format: 'messages', baseUrl: 'https://example.com' }
  expect(() => targetOfEntry({ ...entry, auth: { type: 'aws', ...KEYS } })).toThrow('providers.cloud.auth')
  expect(() => targetOfEntry({ ...entry, auth: { type: 'aws', region: 'r', ...KEYS }, keys: ['k'] })).toThrow(
    'providers.cloud.keys',
  )
})
