/** The gateway's identity at Azure: requests for tokens, and the credentials of calls. */
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { arriving, callTarget, targetOfEntry } from '@test/dialects/provider-entry'
import { type ScriptedUpstream, startUpstream } from '@test/support/upstream'
import { AzureOpenAI } from 'openai'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'

const SECRET = 'client~secret-canary'
const TOKEN = 'eyJ.token.canary'

const running: ScriptedUpstream[] = []
afterEach(() => {
  for (const upstream of running.splice(0)) upstream.stop()
})

/** A loopback server that gives out tokens, numbered, unless `respond` says otherwise. */
function tokenEndpoint(respond?: () => Response) {
  let count = 0
  const endpoint = startUpstream(
    () => respond?.() ?? Response.json({ token_type: 'Bearer', expires_in: 3599, access_token: `${TOKEN}${++count}` }),
  )
  running.push(endpoint)
  return endpoint
}

const application = (authority: string, more: JsonObject = {}): JsonObject => ({
  ...{ type: 'entra', tenant: 'the-tenant', clientId: crypto.randomUUID(), authority, clientSecret: SECRET },
  ...more,
})

/** What arrives at the provider of one call, and the call's result. */
async function called(auth: JsonObject, count = 1) {
  const results: unknown[] = []
  const calls = await arriving(async (url) => {
    const target = targetOfEntry({ format: 'chat-completions', baseUrl: `${url}/openai/v1`, auth })
    await Promise.all(Array.from({ length: count }, async () => results.push(await callTarget(target))))
  })
  return { calls, results }
}

const formOf = ({ text }: { text: string }) => Object.fromEntries(new URLSearchParams(text))

describe('an application with a secret', () => {
  test('E6: fifty concurrent first calls of an application with a secret fetch one token, and all send it', async () => {
    const endpoint = tokenEndpoint()
    const auth = application(endpoint.url)
    const { calls } = await called(auth, 50)
    expect(endpoint.calls.map(({ path }) => path)).toEqual(['/the-tenant/oauth2/v2.0/token'])
    expect(formOf(endpoint.calls[0] ?? { text: '' })).toEqual({
      grant_type: 'client_credentials',
      client_id: String(auth.clientId),
      client_secret: SECRET,
      scope: 'https://cognitiveservices.azure.com/.default',
    })
    expect(calls).toHaveLength(50)
    for (const { headers } of calls) expect(headers.get('authorization')).toBe(`Bearer ${TOKEN}1`)
  })

  test('E3: calls equal those of AzureOpenAI with the same token, and have no api-key', async () => {
    const { calls } = await called(application(tokenEndpoint().url))
    const theirs = await arriving((url) =>
      new AzureOpenAI({
        ...{ baseURL: `${url}/openai/v1`, apiVersion: 'unused', maxRetries: 0 },
        azureADTokenProvider: async () => `${TOKEN}1`,
      }).chat.completions.create({ model: 'd', messages: [{ role: 'user', content: 'Hi' }] }),
    )
    const [ours, library] = [calls, theirs].map(([call]) => {
      assert(call, 'it has been called')
      return [call.headers.get('authorization'), call.headers.get('api-key')]
    })
    expect(ours).toEqual(library)
  })

  test('a dated deployment gets the token in place of its key', async () => {
    const auth = application(tokenEndpoint().url)
    const dated = { format: 'chat-completions', dialect: 'azure-openai', apiVersion: '2024-10-21', auth }
    const [call] = await arriving((url) => callTarget(targetOfEntry({ ...dated, baseUrl: url }, 'd')))
    expect(call?.path).toBe('/openai/deployments/d/chat/completions?api-version=2024-10-21')
    expect([call?.headers.get('authorization'), call?.headers.get('api-key')]).toEqual([`Bearer ${TOKEN}1`, null])
  })

  test('the token’s scope is Foundry’s if the address is Foundry’s, unless the entry names one', async () => {
    const scopes: unknown[] = []
    for (const more of [{}, { scope: 'https://example.test/.default' }]) {
      const endpoint = tokenEndpoint()
      const auth = application(endpoint.url, more)
      const target = targetOfEntry({ format: 'messages', baseUrl: 'https://r.services.ai.azure.com/anthropic', auth })
      const call = { url: '', headers: {}, body: '' }
      await target.provider.dialect.authorizer?.authorize(call, new AbortController().signal)
      scopes.push(formOf(endpoint.calls[0] ?? { text: '' }).scope)
    }
    expect(scopes).toEqual(['https://ai.azure.com/.default', 'https://example.test/.default'])
  })

  test('if an application’s secret is refused, no call is made, and the error has neither secret nor answer', async () => {
    const answer = { error: 'invalid_client', error_description: `AADSTS7000215: not ${SECRET}` }
    const { calls, results } = await called(
      application(tokenEndpoint(() => Response.json(answer, { status: 401 })).url),
    )
    expect(calls).toEqual([])
    expect(results).toEqual([
      {
        kind: 'failed',
        failure: {
          kind: 'unreachable',
          detail: 'the Entra token endpoint answered 401 invalid_client without a token',
          isUnheard: true,
        },
      },
    ])
  })

  test.each([
    ['no JSON', () => new Response('<html>')],
    ['no token', () => Response.json({ expires_in: 3599 })],
    ['a token that no header can carry', () => Response.json({ access_token: 'a\nb', expires_in: 3599 })],
    ['no lifetime', () => Response.json({ access_token: 'a', expires_in: 0 })],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:1/' } })],
  ])('a token response with %s is refused', async (_, respond) => {
    const { calls, results } = await called(application(tokenEndpoint(respond).url))
    expect(calls).toEqual([])
    expect(results).toMatchObject([{ kind: 'failed', failure: { kind: 'unreachable' } }])
  })
})

test('E6: a workload sends the current content of its token file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'entra-'))
  const file = join(folder, 'token')
  // A life of a moment: the next call asks again.
  const endpoint = tokenEndpoint(() => Response.json({ access_token: TOKEN, expires_in: 0.001 }))
  const { clientSecret: _, ...auth } = application(endpoint.url, { federatedTokenFile: file })
  for (const assertion of ['one', 'two']) {
    await Bun.write(file, `${assertion}\n`)
    const { calls } = await called(auth)
    expect(calls).toHaveLength(1)
  }
  await rm(folder, { recursive: true })
  expect((await called(auth)).results).toMatchObject([
    { failure: { detail: 'the federated token file cannot be read' } },
  ])
  const forms = endpoint.calls.map(formOf)
  expect(forms.map(({ client_assertion }) => client_assertion)).toEqual(['one', 'two'])
  expect(forms[0]).toMatchObject({
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  })
})

describe('a managed identity', () => {
  const clientId = crypto.randomUUID()

  test('a managed identity gets its token from the virtual machine’s endpoint', async () => {
    const endpoint = tokenEndpoint()
    const auth = { type: 'entra', managedIdentity: true, clientId, identityEndpoint: `${endpoint.url}/metadata/token` }
    const { calls } = await called(auth)
    const [asked] = endpoint.calls
    expect(asked?.path).toBe(
      `/metadata/token?api-version=2018-02-01&resource=https%3A%2F%2Fcognitiveservices.azure.com&client_id=${clientId}`,
    )
    expect(asked?.headers.get('metadata')).toBe('true')
    expect(calls[0]?.headers.get('authorization')).toBe(`Bearer ${TOKEN}1`)
  })

  test('a managed identity of App Service sends the required header, and reads the expiry', async () => {
    const endpoint = tokenEndpoint(() =>
      Response.json({ access_token: TOKEN, expires_on: String(Math.ceil(Date.now() / 1000) + 3600) }),
    )
    const auth = {
      type: 'entra',
      managedIdentity: true,
      identityEndpoint: `${endpoint.url}/msi`,
      identitySecret: SECRET,
    }
    const { calls } = await called(auth)
    const [asked] = endpoint.calls
    expect(asked?.path).toBe('/msi?api-version=2019-08-01&resource=https%3A%2F%2Fcognitiveservices.azure.com')
    expect([asked?.headers.get('x-identity-header'), asked?.headers.get('metadata')]).toEqual([SECRET, null])
    expect(calls[0]?.headers.get('authorization')).toBe(`Bearer ${TOKEN}`)
  })
})
