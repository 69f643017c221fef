/** Calls to Vertex AI compared with the vendor's own library, and the gateway's credentials there. */
import { afterEach, describe, expect, test } from 'bun:test'
import { generateKeyPairSync, verify } from 'node:crypto'
import { GoogleGenAI } from '@google/genai'
import { arriving, callTarget, targetOfEntry } from '@test/dialects/provider-entry'
import { type ScriptedUpstream, startUpstream } from '@test/support/upstream'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'

const TOKEN = 'ya29.token-canary'
const PLACE = { project: 'the-project', location: 'europe-west4' }
const ENTRY = { format: 'generate-content', dialect: 'vertex' }
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

const running: ScriptedUpstream[] = []
afterEach(() => {
  for (const upstream of running.splice(0)) upstream.stop()
})

function tokenEndpoint(headers: Record<string, string> = {}) {
  const endpoint = startUpstream(() =>
    Response.json({ access_token: TOKEN, expires_in: 3599, token_type: 'Bearer' }, { headers }),
  )
  running.push(endpoint)
  return endpoint
}

const account = (tokenUrl: string) => ({
  ...{ type: 'service_account', client_email: `${crypto.randomUUID()}@p.iam.gserviceaccount.com`, private_key: KEY },
  ...{ private_key_id: 'the-id', token_uri: tokenUrl },
})
const metadata = (url: string) => ({ type: 'google', metadataServer: true, metadataHost: new URL(url).host })

/** Where a library's or our call goes. */
async function pathOf(send: (url: string) => Promise<unknown>): Promise<string | undefined> {
  const [call] = await arriving(send)
  return call?.path
}

const flavoured = () => tokenEndpoint({ 'metadata-flavor': 'Google' })

describe('E19: the address of a model', () => {
  test.each([
    ['gemini-3-flash', 'publishers/google/models/gemini-3-flash'],
    ['meta/llama-4', 'publishers/meta/models/llama-4'],
    ['publishers/meta/models/llama-4', 'publishers/meta/models/llama-4'],
  ])('E19: the URL of %s equals the vendor’s library’s', async (model, resource) => {
    const auth = metadata(flavoured().url)
    for (const stream of [false, true]) {
      const ours = await pathOf((url) => {
        return callTarget(targetOfEntry({ ...ENTRY, ...PLACE, auth, baseUrl: url }, model), { stream })
      })
      const theirs = await pathOf(async (url) => {
        const httpOptions = { baseUrl: url, apiVersion: 'v1', headers: { authorization: 'Bearer x' } }
        const authClient = { getRequestHeaders: async () => new Headers({ authorization: 'Bearer x' }) }
        const client = new GoogleGenAI({
          ...{ vertexai: true, ...PLACE, httpOptions },
          googleAuthOptions: { authClient: authClient as never },
        })
        const request = { model, contents: 'Hi' }
        await (stream ? client.models.generateContentStream(request) : client.models.generateContent(request))
      })
      expect(ours).toBe(theirs)
      const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
      expect(ours).toBe(`/v1/projects/the-project/locations/europe-west4/${resource}:${verb}`)
    }
  })

  test('E19: a tuned model’s URL is its endpoint, and a full resource name is used unchanged', () => {
    const auth = metadata('http://127.0.0.1:1')
    const urlOf = (model: string) => {
      const { dialect, baseUrl } = targetOfEntry({ ...ENTRY, ...PLACE, auth }, model).provider
      return dialect.url({ baseUrl, apiVersion: undefined, model, stream: false })
    }
    const base = 'https://europe-west4-aiplatform.googleapis.com/v1'
    expect(urlOf('endpoints/123')).toBe(
      `${base}/projects/the-project/locations/europe-west4/endpoints/123:generateContent`,
    )
    expect(urlOf('projects/p/locations/l/endpoints/1')).toBe(
      `${base}/projects/p/locations/l/endpoints/1:generateContent`,
    )
    expect(urlOf('a b?c#d')).toContain('/models/a%20b%3Fc%23d:generateContent')
  })

  test('E19: with an express key the URL has neither project nor location', async () => {
    const [ours] = await arriving((url) =>
      callTarget(targetOfEntry({ ...ENTRY, keys: ['express'], baseUrl: url }, 'g')),
    )
    const [theirs] = await arriving((url) =>
      new GoogleGenAI({
        ...{ vertexai: true, apiKey: 'express', httpOptions: { baseUrl: url, apiVersion: 'v1' } },
      }).models.generateContent({ model: 'g', contents: 'Hi' }),
    )
    assert(ours && theirs, 'both have called')
    const essence = ({ path, headers }: typeof ours) => [
      path,
      headers.get('x-goog-api-key'),
      headers.get('authorization'),
    ]
    expect(essence(ours)).toEqual(essence(theirs))
    expect(ours.path).toBe('/v1/publishers/google/models/g:generateContent')
  })
})

test.each([
  ['global', 'https://aiplatform.googleapis.com'],
  ['us', 'https://aiplatform.us.rep.googleapis.com'],
  ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
  ['europe-west4', 'https://europe-west4-aiplatform.googleapis.com'],
])('E19: the host of location %s is %s, unless the entry has one', (location, host) => {
  const entry = { ...ENTRY, project: 'p', location, auth: metadata('http://127.0.0.1:1') }
  expect(targetOfEntry(entry).provider.baseUrl).toBe(host)
  expect(targetOfEntry({ ...entry, baseUrl: 'https://own.example' }).provider.baseUrl).toBe('https://own.example')
})

describe('E21: a service account', () => {
  const entryOf = (credentials: JsonObject | string): JsonObject => ({
    ...{ ...ENTRY, ...PLACE },
    auth: { type: 'google', credentials: typeof credentials === 'string' ? credentials : JSON.stringify(credentials) },
  })

  test('E21: a service account signs once for twenty concurrent first calls', async () => {
    const endpoint = tokenEndpoint()
    const credentials = account(`${endpoint.url}/token`)
    const calls = await arriving((url) => {
      const target = targetOfEntry({ ...entryOf(credentials), baseUrl: url })
      return Promise.all(Array.from({ length: 20 }, () => callTarget(target)))
    })
    expect(calls.map(({ headers }) => headers.get('authorization'))).toEqual(Array(20).fill(`Bearer ${TOKEN}`))
    expect(endpoint.calls).toHaveLength(1)
    const form = new URLSearchParams(endpoint.calls[0]?.text)
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [head = '', claim = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const isSigned = verify(
      'RSA-SHA256',
      Buffer.from(`${head}.${claim}`),
      publicKey,
      Buffer.from(signature, 'base64url'),
    )
    expect(isSigned).toBe(true)
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as JsonObject
    expect(read(head)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'the-id' })
    const { iat, exp, ...rest } = read(claim)
    expect(rest).toEqual({
      ...{ iss: credentials.client_email, aud: `${endpoint.url}/token` },
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    })
    expect(Number(exp) - Number(iat)).toBe(3600)
  })

  test('E21: if the machine’s clock is wrong, a service account signs once more with Google’s time', async () => {
    for (const [aheadMs, expected] of [
      [-86_400_000, 2],
      [0, 1],
    ] as const) {
      const atMs = Date.now() + aheadMs
      const claims: number[] = []
      const endpoint = tokenEndpoint()
      endpoint.respond(({ text }) => {
        const [, claim = ''] = (new URLSearchParams(text).get('assertion') ?? '').split('.')
        claims.push(Number((JSON.parse(Buffer.from(claim, 'base64url').toString()) as JsonObject).iat))
        const isInTime = claims.at(-1) === Math.floor(atMs / 1000)
        const headers = { date: new Date(atMs).toUTCString() }
        return isInTime && aheadMs !== 0
          ? Response.json({ access_token: TOKEN, expires_in: 3599 }, { headers })
          : Response.json({ error: 'invalid_grant' }, { status: 400, headers })
      })
      const target = targetOfEntry({ ...entryOf(account(endpoint.url)), baseUrl: 'http://127.0.0.1:1' })
      await callTarget(target)
      expect(claims).toHaveLength(expected)
    }
  })

  test.each([
    ['no JSON', 'canary'],
    ['a user’s credentials', { type: 'authorized_user', refresh_token: 'canary' }],
    ['a broken key', { ...account('https://a.example'), private_key: '-----BEGIN PRIVATE KEY-----\ncanary' }],
    ['no address', account('canary')],
  ])('E21: a service account with %s stops the start, and the error does not show it', (_, credentials) => {
    let thrown = ''
    try {
      targetOfEntry(entryOf(credentials))
    } catch (error) {
      thrown = String(error)
    }
    expect(thrown).toContain('providers.cloud.auth.credentials: is neither the key of a service account nor')
    expect(thrown).not.toContain('canary')
  })
})

test('E21: the metadata server is called with the required header, and its answer must have that header too', async () => {
  const endpoint = flavoured()
  const entry = { ...ENTRY, ...PLACE }
  const [call] = await arriving((url) =>
    callTarget(targetOfEntry({ ...entry, baseUrl: url, auth: metadata(endpoint.url) })),
  )
  expect(call?.headers.get('authorization')).toBe(`Bearer ${TOKEN}`)
  const [asked] = endpoint.calls
  expect(asked?.headers.get('metadata-flavor')).toBe('Google')
  expect(asked?.path).toBe(
    '/computeMetadata/v1/instance/service-accounts/default/token?scopes=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fcloud-platform',
  )
  const other = metadata(tokenEndpoint().url)
  expect(await callTarget(targetOfEntry({ ...entry, auth: other, baseUrl: 'http://127.0.0.1:1' }))).toMatchObject({
    ...{ kind: 'failed', failure: { kind: 'unreachable', detail: 'the Google metadata server is somebody else' } },
  })
})
