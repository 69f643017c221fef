/**
 * Adds a deployment at Azure, a model at Bedrock, one at Vertex AI and a local Ollama exactly as the operators' pages
 * describe, and sells them. Slow: each command is a process.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import { addressOf, type GatewayProcess, spawnGateway } from '@test/boot/process'
import { SAMPLE } from '@test/catalog/sample-catalog'
import { runProcess } from '@test/cli/run'
import { documentedBlocks } from '@test/deploy/documents/blocks'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import type { ScriptedUpstream } from '@test/support/upstream'
import OpenAI, { AzureOpenAI } from 'openai'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import { AWS_KEYS, REGION, SECRETS, startCloudMocks } from './cloud-mocks'

const { privateKey: PEM } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
/** 20 tokens read and 7 written, at 1 and 2 USD per 1,000,000. */
const PRICE_USD = 0.000034

/** A provider by its name on a page, the plane that is its cloud, and what of the entry is the stranger's own. */
const WISHED: readonly [page: string, name: string, path: string, own: (mock: string) => JsonObject][] = [
  ['azure', 'azure', '/azure/openai/v1', () => ({})],
  ['azure', 'azure-app', '/azure/openai/v1', (mock) => ({ authority: `${mock}/azure-control` })],
  ['bedrock', 'bedrock-role', '/bedrock', () => ({})],
  ['vertex', 'gemini', '/vertex', () => ({})],
  ['services', 'ollama', '/ollama/v1', () => ({})],
]
const NAMES = WISHED.map(([, name]) => name)

let folder: string
let mock: ScriptedUpstream
let environment: Record<string, string>
let gateway: GatewayProcess
let url: string
let key: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-stranger-'))
  mock = startCloudMocks(createPrivateKey(PEM))
  const blocks = (await documentedBlocks()).filter(({ info }) => info === 'json providers')
  const providers: Record<string, JsonObject> = {}
  for (const [page, name, path, own] of WISHED) {
    const entries = blocks.filter(({ document }) => document === `docs/operations/${page}.md`)
    const entry = entries.map(({ text }) => (JSON.parse(`{${text}}`) as Record<string, JsonObject>)[name]).find(Boolean)
    assert(entry, `${name} is on the page of ${page}`)
    const auth = entry.auth as JsonObject | undefined
    providers[name] = { ...entry, baseUrl: mock.url + path, ...(auth && { auth: { ...auth, ...own(mock.url) } }) }
  }
  const [sample] = SAMPLE.models
  const models = NAMES.map((name) => {
    const pricing = { inputPer1mTokens: 1, outputPer1mTokens: 2 }
    const targets = [{ provider: name, model: name === 'gemini' ? 'gemini-3-flash' : 'a-deployment' }]
    return { ...sample, id: `svc/${name}`, ownedBy: name, capabilities: [], fallback: [], pricing, targets }
  })
  const CATALOG = join(folder, 'catalog.json')
  await Bun.write(CATALOG, JSON.stringify({ service: 'svc', providers, models }))
  const keyFile = { type: 'service_account', client_email: 'a@p.example', token_uri: `${mock.url}/google-control` }
  await Bun.write(join(folder, 'google.json'), JSON.stringify({ ...keyFile, private_key: PEM }))
  environment = {
    ...{ CATALOG, AZURE_OPENAI_API_KEY: SECRETS.azureKey, AZURE_TENANT_ID: 'tenant', AZURE_CLIENT_ID: 'client' },
    ...{ AZURE_CLIENT_SECRET: SECRETS.clientSecret, GOOGLE_SERVICE_ACCOUNT_FILE: join(folder, 'google.json') },
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${mock.url}/aws-control`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: SECRETS.podToken,
    ...{ REDIS_URL: await redisUrl(), DATABASE_URL: await freshDatabase() },
  }
  gateway = spawnGateway({ ...environment, PORT: '0', LOG_LEVEL: 'debug' })
  url = await addressOf(gateway)
  const admin = async (...args: string[]) => (await runProcess(args, environment)).json
  const account = String((await admin('account', 'create', '--email', 's@example.test', '--name', 'S')).accountId)
  await admin('credit', 'add', '--account', account, '--usd', '3', '--reference', 'r')
  key = String((await admin('key', 'create', '--account', account, '--name', 'k', '--monthly-budget-usd', 'none')).key)
})
afterAll(async () => {
  gateway.kill('SIGTERM')
  await gateway.exited()
  mock.stop()
  await rm(folder, { recursive: true })
})

test('the test’s catalogue is valid, and every provider has its credentials', async () => {
  const { json } = await runProcess(['catalog', 'check', environment.CATALOG ?? ''], environment)
  expect(json).toMatchObject({ ok: true, withoutKey: [], providers: NAMES.length, models: NAMES.length })
})

describe.each(NAMES)('a provider %s of a made-up dialect', (name) => {
  test('provider test succeeds for a made-up dialect', async () => {
    const { code, json } = await runProcess(['provider', 'test', name], environment)
    expect(json).toMatchObject({
      ok: true,
      provider: name,
      targets: [{ model: `svc/${name}`, text: 'works', stream: 'works' }],
    })
    expect(code).toBe(0)
  })

  test('whole and streamed answers of a made-up dialect are charged at the model’s price', async () => {
    const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
    const left = async () => {
      const usage = await fetch(`${url}/v1/usage`, { headers: { 'x-api-key': key } })
      return Number(((await usage.json()) as { credits_remaining: number }).credits_remaining)
    }
    const before = await left()
    const request = { model: `svc/${name}`, messages: [{ role: 'user' as const, content: 'Hi' }] }
    const answer = await client.chat.completions.create(request)
    expect(answer).toMatchObject({ model: `svc/${name}`, choices: [{ message: { content: 'Hello' } }] })
    const streamed = await client.chat.completions.stream(request).finalContent()
    expect(streamed).toBe('Hello')
    await until(async () => Math.abs(before - (await left()) - 2 * PRICE_USD) < 1e-9, 'both are paid')
  })
})

const HI = [{ role: 'user' as const, content: 'Hi' }]
/** What each vendor's own library reads of the same planes. */
const LIBRARIES: Readonly<Record<string, () => Promise<string | null | undefined>>> = {
  AzureOpenAI: async () => {
    const client = new AzureOpenAI({
      endpoint: `${mock.url}/azure`,
      apiKey: SECRETS.azureKey,
      apiVersion: '2024-10-21',
    })
    return (await client.chat.completions.create({ model: 'a-deployment', messages: HI })).choices[0]?.message.content
  },
  BedrockRuntimeClient: async () => {
    const client = new BedrockRuntimeClient({
      ...{ region: REGION, credentials: AWS_KEYS, endpoint: `${mock.url}/bedrock`, maxAttempts: 1 },
      requestHandler: {
        async handle({ path, headers, body }: { path: string; headers: Record<string, string>; body: Uint8Array }) {
          const response = await fetch(mock.url + path, { method: 'POST', headers, body: Uint8Array.from(body) })
          const answer = { statusCode: response.status, headers: Object.fromEntries(response.headers) }
          return { response: { ...answer, body: new Uint8Array(await response.arrayBuffer()) } }
        },
      } as never,
    })
    const messages = [{ role: 'user' as const, content: [{ text: 'Hi' }] }]
    return (await client.send(new ConverseCommand({ modelId: 'm', messages }))).output?.message?.content?.[0]?.text
  },
  GoogleGenAI: async () => {
    const authorization = `Bearer ${SECRETS.googleToken}`
    const authClient = { getRequestHeaders: async () => new Headers({ authorization }) }
    const client = new GoogleGenAI({
      ...{ vertexai: true, project: 'p', location: 'global', httpOptions: { baseUrl: `${mock.url}/vertex` } },
      googleAuthOptions: { authClient: authClient as never },
    })
    return (await client.models.generateContent({ model: 'gemini-3-flash', contents: 'Hi' })).text
  },
  OpenAI: async () => {
    const client = new OpenAI({ apiKey: 'ollama', baseURL: `${mock.url}/ollama/v1` })
    return (await client.chat.completions.create({ model: 'm', messages: HI })).choices[0]?.message.content
  },
}

test.each(Object.entries(LIBRARIES))('%s accepts the same mock server', async (_, ask) => {
  expect(await ask()).toBe('Hello')
})

test('E1: no credential is among the process arguments or in the process output', async () => {
  const shown = (await readFile(`/proc/${gateway.pid}/cmdline`, 'utf8')) + gateway.output()
  for (const [secret, value] of Object.entries(SECRETS))
    expect([secret, shown.includes(value)]).toEqual([secret, false])
  expect(shown).not.toContain('PRIVATE KEY')
})
