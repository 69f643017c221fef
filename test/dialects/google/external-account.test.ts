/** Workload identity federation: token exchanges compared with the vendor's own library, and errors. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GoogleGenAI } from '@google/genai'
import { arriving, callTarget, targetOfEntry } from '@test/dialects/provider-entry'
import { until } from '@test/support/until'
import { type ScriptedUpstream, startUpstream, type UpstreamCall } from '@test/support/upstream'
import type { JsonObject } from '@/lib/json'

const SUBJECT = 'eyJ.subject-canary'
const PLACE = { project: 'p', location: 'europe-west4' }

const running: ScriptedUpstream[] = []
afterEach(() => {
  for (const upstream of running.splice(0)) upstream.stop()
})

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'test-federation-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** The exchange, the impersonation and the platform's own tokens, at one address; tokens are numbered. */
function platform(lifeSeconds = 3600): ScriptedUpstream {
  const endpoint = startUpstream(({ path }, index) => {
    if (path === '/subject') return Response.json({ value: SUBJECT })
    if (path === '/sts') return Response.json({ access_token: `federated-${index}`, expires_in: lifeSeconds })
    const expireTime = new Date(Date.now() + lifeSeconds * 1000).toISOString()
    return Response.json({ accessToken: `impersonated-${index}`, expireTime })
  })
  running.push(endpoint)
  return endpoint
}

const configuration = (url: string, more: JsonObject): JsonObject => ({
  ...{ type: 'external_account', audience: `//iam.googleapis.com/projects/1/pools/${crypto.randomUUID()}` },
  ...{ subject_token_type: 'urn:ietf:params:oauth:token-type:jwt', token_url: `${url}/sts`, ...more },
})

const fromUrl = (url: string) => ({
  credential_source: {
    ...{ url: `${url}/subject`, headers: { 'metadata-flavor': 'Other' } },
    format: { type: 'json', subject_token_field_name: 'value' },
  },
  service_account_impersonation_url: `${url}/v1/projects/-/serviceAccounts/a@p.iam.gserviceaccount.com:generateAccessToken`,
})

const entryOf = (credentials: JsonObject, baseUrl: string): JsonObject => ({
  ...{ format: 'generate-content', dialect: 'vertex', ...PLACE, baseUrl },
  auth: { type: 'google', credentials: JSON.stringify(credentials) },
})

/** What matters of calls to the platform, in order. */
const essence = (calls: readonly UpstreamCall[]) =>
  calls.map(({ path, headers, text }) => ({
    path,
    authorization: headers.get('authorization'),
    flavor: headers.get('metadata-flavor'),
    body: text.startsWith('{') ? JSON.parse(text) : Object.fromEntries([...new URLSearchParams(text)].sort()),
  }))

async function subjectFile(text: string): Promise<string> {
  const file = join(folder, crypto.randomUUID())
  await Bun.write(file, text)
  return file
}

describe('E21: the token exchange equals the vendor library’s', () => {
  test.each(['of a file', 'of an address, for a service account'])(
    'the token exchange equals the vendor library’s: %s',
    async (kind) => {
      const sources = async (url: string) =>
        kind === 'of a file' ? { credential_source: { file: await subjectFile(SUBJECT) } } : fromUrl(url)
      const [ours, theirs] = [platform(), platform()]
      const [call] = await arriving(async (url) =>
        callTarget(targetOfEntry(entryOf(configuration(ours.url, await sources(ours.url)), url))),
      )
      const credentials = configuration(theirs.url, await sources(theirs.url))
      const [judge] = await arriving((url) =>
        new GoogleGenAI({
          ...{ vertexai: true, ...PLACE, httpOptions: { baseUrl: url, apiVersion: 'v1' } },
          googleAuthOptions: { credentials: credentials as never },
        }).models.generateContent({ model: 'the-model', contents: 'Hi' }),
      )
      expect(call?.headers.get('authorization')).toBe(judge?.headers.get('authorization') ?? 'none')
      expect(call?.path).toBe(judge?.path)
      const expected = essence(theirs.calls)
      const found = essence(ours.calls)
      for (const [index, { body }] of found.entries()) {
        // Each has a pool of its own, and the library says no audience but this.
        if (body.audience) body.audience = expected[index]?.body.audience
      }
      expect(found).toEqual(expected)
    },
  )
})

test('E21: fifty concurrent first calls make one token exchange, and tokens are renewed during calls', async () => {
  const endpoint = platform(1)
  const kinds: string[] = []
  let exchanges = 0
  const calls = await arriving(async (url) => {
    const target = targetOfEntry(entryOf(configuration(endpoint.url, fromUrl(endpoint.url)), url))
    const call = async () => kinds.push((await callTarget(target)).kind)
    await Promise.all(Array.from({ length: 50 }, call))
    exchanges = endpoint.calls.length
    await until(async () => (await call()) > 0 && endpoint.calls.length >= 9)
  })
  expect(exchanges).toBe(3)
  expect(new Set(kinds)).toEqual(new Set(['answer']))
  expect(new Set(calls.map(({ headers }) => headers.get('authorization'))).size).toBeGreaterThan(1)
})

describe('E21: errors without a secret', () => {
  const failing = async (credentials: JsonObject) => {
    const result = await callTarget(targetOfEntry(entryOf(credentials, 'http://127.0.0.1:1')))
    expect(JSON.stringify(result)).not.toContain('canary')
    return result
  }
  const unreachable = (detail: string) => ({ kind: 'failed', failure: { kind: 'unreachable', detail } })

  test('E21: a fault of the credential file is reported without a secret', async () => {
    const { url } = platform()
    const missing = configuration(url, { credential_source: { file: '/nowhere/canary' } })
    expect(await failing(missing)).toMatchObject(unreachable('the file of the subject token cannot be read'))
    const format = { type: 'json', subject_token_field_name: 'value' }
    const wrong = configuration(url, { credential_source: { file: await subjectFile('canary'), format } })
    expect(await failing(wrong)).toMatchObject(unreachable('the source of the subject token has none'))
  })

  test('E21: a fault of each token endpoint is reported without a secret', async () => {
    const endpoint = platform()
    const refusing = (path: string, body: JsonObject) =>
      endpoint.respond((call) =>
        call.path === path
          ? Response.json(body, { status: 403 })
          : Response.json({ value: SUBJECT, access_token: 'token-canary', expires_in: 60 }),
      )
    const ask = () => failing(configuration(endpoint.url, fromUrl(endpoint.url)))
    refusing('/subject', { error: 'canary words' })
    expect(await ask()).toMatchObject(unreachable('the source of the subject token answered 403'))
    refusing('/sts', { error: 'invalid_grant', error_description: 'canary' })
    expect(await ask()).toMatchObject(unreachable('the Google STS endpoint answered 403 invalid_grant without a token'))
    const { service_account_impersonation_url: address } = fromUrl(endpoint.url)
    refusing(new URL(address).pathname, { error: { status: 'PERMISSION_DENIED', message: 'canary' } })
    expect(await ask()).toMatchObject(
      unreachable('the Google impersonation endpoint answered 403 PERMISSION_DENIED without a token'),
    )
  })

  test.each<[string, JsonObject]>([
    [
      'a source that must be called in AWS’s way',
      { credential_source: { environment_id: 'aws1', url: 'http://a.example' } },
    ],
    ['a source that is a program', { credential_source: { executable: { command: 'canary' } } }],
    ['no source', {}],
    ['no address', { token_url: 'canary', credential_source: { file: 'x' } }],
  ])('E21: at the start, an error in %s is reported', (_, more) => {
    expect(() => targetOfEntry(entryOf(configuration('http://a.example', more), 'http://127.0.0.1:1'))).toThrow(
      'providers.cloud.auth.credentials: is neither the key of a service account nor',
    )
  })
})
