/** AWS profiles whose credentials come from elsewhere: another profile's role, a program, or single sign-on. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ScriptedUpstream, startUpstream } from '@test/support/upstream'
import { credentialsOf, fetchCredentials } from '@/dialects/aws/aws-credentials'
import { profileSource } from '@/dialects/aws/profile'

const SECRET = 'secret-canary'
const START = 'https://start.example/start'
const HOUR_MS = 3_600_000

let folder: string
let endpoint: ScriptedUpstream
const inTenMinutes = () => Date.now() + 600_000
const inAnHour = () => new Date(Date.now() + HOUR_MS).toISOString()

beforeAll(async () => {
  endpoint = startUpstream(({ path, text }) => {
    if (path.startsWith('/federation')) {
      const role = {
        accessKeyId: 'ASIASSO',
        secretAccessKey: SECRET,
        sessionToken: 's',
        expiration: Date.now() + HOUR_MS,
      }
      return Response.json({ roleCredentials: role })
    }
    const id = `ASIA${new URLSearchParams(text).get('RoleArn')?.split('/')[1]}`
    return new Response(
      `<Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${SECRET}</SecretAccessKey>` +
        `<SessionToken>s</SessionToken><Expiration>${inAnHour()}</Expiration></Credentials>`,
    )
  })
  folder = await mkdtemp(join(tmpdir(), 'svc-aws-profile-'))
  const program = (output: object) => `printf '%s' '${JSON.stringify(output)}'`
  const lasting = { Version: 1, AccessKeyId: 'AKIDPROGRAM', SecretAccessKey: SECRET }
  await Bun.write(
    join(folder, 'credentials'),
    `[keys]\naws_access_key_id = AKIDKEYS\naws_secret_access_key = ${SECRET}\n`,
  )
  await Bun.write(
    join(folder, 'config'),
    `[profile role]
role_arn = arn:aws:iam::1:role/one
source_profile = keys
external_id = the-id
[profile chain]
role_arn = arn:aws:iam::2:role/two
source_profile = role
[profile program]
credential_process = ${program(lasting)}
[profile temporary]
credential_process = ${program({ ...lasting, AccessKeyId: 'ASIAPROGRAM', SessionToken: 's', Expiration: inAnHour() })}
[profile looking]
credential_process = env | sort > ${join(folder, 'environment')}; ${program(lasting)}
[profile failing]
credential_process = echo ${SECRET} >&2; exit 1
[sso-session ours]
sso_start_url = ${START}
sso_region = eu-west-1
[profile person]
sso_session = ours
sso_account_id = 123
sso_role_name = Reader
[profile stranger]
sso_start_url = ${START}
sso_region = eu-west-1
sso_account_id = 123
sso_role_name = Reader
[profile loop]
role_arn = arn:aws:iam::2:role/two
source_profile = loop
`,
  )
  const cache = join(folder, 'sso', 'cache')
  await mkdir(cache, { recursive: true })
  const signedIn = (name: string, expiresAt: string) =>
    Bun.write(
      join(cache, `${createHash('sha1').update(name).digest('hex')}.json`),
      JSON.stringify({ accessToken: 'sso-token-canary', expiresAt }),
    )
  await signedIn('ours', inAnHour())
  await signedIn(START, new Date(0).toISOString())
})
afterAll(async () => {
  endpoint.stop()
  await rm(folder, { recursive: true })
})

function ask(profile: string) {
  const files = { credentialsFile: join(folder, 'credentials'), configFile: join(folder, 'config') }
  return fetchCredentials({
    region: 'eu-west-1',
    stsEndpoint: endpoint.url,
    ssoEndpoint: endpoint.url,
    profile,
    ...files,
  })
}

describe('E17: an AWS profile', () => {
  test.each([
    ['keys', 'AKIDKEYS', false],
    ['role', 'ASIAone', true],
    ['chain', 'ASIAtwo', true],
    ['program', 'AKIDPROGRAM', false],
    ['temporary', 'ASIAPROGRAM', true],
    ['person', 'ASIASSO', true],
  ])('E17: a profile with %s gives %s, until they expire', async (profile, accessKeyId, hasSession) => {
    const { value, expiresAtMs } = await ask(profile)
    const sessionToken = hasSession ? { sessionToken: 's' } : {}
    expect(credentialsOf(value)).toEqual({ accessKeyId, secretAccessKey: SECRET, ...sessionToken })
    expect(expiresAtMs > inTenMinutes()).toBe(hasSession)
  })

  test('E17: a credential program sees PATH and HOME only', async () => {
    expect((await ask('looking')).value).toContain('AKIDPROGRAM')
    const names = (await Bun.file(join(folder, 'environment')).text()).split('\n').map((line) => line.split('=')[0])
    // Those that the shell adds are left aside.
    expect(names.filter((name) => name && !/^(?:PWD|OLDPWD|SHLVL|_)$/.test(name))).toEqual(['HOME', 'LC_ALL', 'PATH'])
  })

  test('E17: a role is assumed with the credentials of its source profile, and the external id', () => {
    const [role] = endpoint.calls.filter(({ text }) => text.includes('role%2Fone'))
    expect(role?.text).toContain('ExternalId=the-id')
    expect(role?.headers.get('authorization')).toContain('Credential=AKIDKEYS/')
    const [chained] = endpoint.calls.filter(({ text }) => text.includes('role%2Ftwo'))
    expect(chained?.headers.get('authorization')).toContain('Credential=ASIAone/')
  })

  test('E17: the SSO portal is called with the signed-in person’s token', () => {
    const call = endpoint.calls.find(({ path }) => path.startsWith('/federation'))
    expect(call?.path).toBe('/federation/credentials?account_id=123&role_name=Reader')
    expect(call?.headers.get('x-amz-sso_bearer_token')).toBe('sso-token-canary')
  })

  test.each([
    ['failing', 'the credential process has failed'],
    ['stranger', `nobody is signed in for ${START}: run aws sso login`],
    ['loop', 'profile loop is its own source'],
    ['nobody', 'the profile files have no credentials of profile nobody that can be had'],
  ])('E17: a profile with %s fails, and the error has no secret: %s', async (profile, message) => {
    expect(await ask(profile).catch((error: Error) => `${error.name}: ${error.message}`)).toBe(
      `CredentialError: ${message}`,
    )
  })
})

test('E17: a profile’s keys are preferred to its role, and the credentials file to the config file', () => {
  const config = '[default]\nrole_arn = r\nsource_profile = default\naws_access_key_id = A\naws_secret_access_key = B\n'
  const keys = { accessKeyId: 'C', secretAccessKey: 'B' }
  expect(profileSource('[default]\naws_access_key_id=C\n', config, 'default')).toEqual({
    from: keys,
    assumeRoleArn: 'r',
  })
})
