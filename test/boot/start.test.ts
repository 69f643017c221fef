/**
 * Start and stop, seen from outside: errors, the banner, the printed command, draining, several processes. Slow: each
 * case starts a process.
 */
import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatChunk, chatStream, eventStream, liveStream, startUpstream } from '@test/support/upstream'
import { freePort } from '@/boot/embedded/free-port'
import { loadSettings } from '@/boot/load-settings'
import { addressOf, demoKeyOf, type GatewayProcess, spawnGateway } from './process'

async function stores(): Promise<Record<string, string>> {
  return { REDIS_URL: await redisUrl(), DATABASE_URL: await freshDatabase(), PORT: '0' }
}

async function stop(gateway: GatewayProcess): Promise<void> {
  gateway.kill('SIGTERM')
  expect(await gateway.exited()).toBe(0)
}

/** A provider key, beside which the demo account has to be asked for. */
const KEYED = { PROVIDER1_API_KEY: 'k-provider-one', DEMO_ACCOUNT: 'on' }
const STREAM = { model: 'svc/alpha', stream: true, messages: [{ role: 'user', content: 'Say hello' }] }

function send(address: string, key: string, body: object): Promise<Response> {
  return fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

describe('errors of an operator', () => {
  test('all faults of settings and catalogue are reported together, with their place and without secrets', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'catalog-'))
    const path = join(folder, 'catalog.json')
    const providers = { provider2: { format: 'messages', baseUrl: 'not an address', keys: ['x'] } }
    await writeFile(path, JSON.stringify({ service: 'svc', providers, models: [{ id: 'other/alpha' }] }))
    const gateway = spawnGateway({
      ...{ PORT: 'eighty', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://root:hunter2@x', PROCESSES: '0' },
      ...{ NODE_ENV: 'prod', CATALOG: path },
    })
    expect(await gateway.exited()).toBe(1)
    const places = ['PORT', 'LOG_LEVEL', 'DATABASE_URL', 'PROCESSES', 'providers.provider2.baseUrl', 'models[0].id']
    for (const place of places) expect(gateway.output()).toContain(`  ${place}: `)
    expect(gateway.output()).toContain('NODE_ENV: expected production or development or test; found "prod"')
    expect(gateway.output()).not.toContain('hunter2')
    await rm(folder, { recursive: true })
  })

  test('a catalogue file that cannot be read is reported beside faulty settings', async () => {
    const faults = await loadSettings({ PORT: 'eighty', CATALOG: '/no/such/file.json' }).catch(String)
    expect(faults).toContain('\n  PORT: ')
    expect(faults).toContain('\n  CATALOG: cannot read /no/such/file.json')
  })

  test('production without a secret and a provider key is refused, beside other faults', async () => {
    const faults = await loadSettings({ NODE_ENV: 'production', PORT: 'eighty' }).catch(String)
    for (const place of ['PORT', 'AUTH_SECRET', 'PROVIDER1_API_KEY or PROVIDER2_API_KEY or PROVIDER3_API_KEY'])
      expect(faults).toContain(`\n  ${place}: `)
  })
})

test('a model sold below its cost is reported at the start in one line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catalog-'))
  const path = join(folder, 'catalog.json')
  const text = await Bun.file(join(import.meta.dir, '../../config/catalog.json')).text()
  await writeFile(path, text.replace('"costPer1mOutputTokens": 10,', '"costPer1mOutputTokens": 10.5,'))
  const gateway = spawnGateway({ ...(await stores()), CATALOG: path })
  await addressOf(gateway)
  const lines = gateway.output().split('\n')
  const warnings = lines.filter((line) => line.includes('price_below_cost'))
  expect(warnings).toHaveLength(1)
  expect(JSON.parse(warnings[0] ?? '')).toMatchObject({
    model: 'svc/alpha',
    losses: ['output: sold at $10, costs $10.5 at provider1'],
  })
  await stop(gateway)
  await rm(folder, { recursive: true })
})

describe('a first start', () => {
  test('a first start prints a key and a command that streams a paid answer; a second start prints no key', async () => {
    const environment = await stores()
    const first = spawnGateway(environment)
    const address = await addressOf(first)
    const key = demoKeyOf(first)
    expect(first.output()).toContain(`${address}/docs`)
    expect(first.output()).toContain('simulated')
    const line = /(curl -N .*)/.exec(first.output())?.[1] as string
    const pasted = Bun.spawnSync(['sh', '-c', line])
    expect(pasted.stdout.toString()).toContain('chat.completion.chunk')
    expect(pasted.stdout.toString()).toEndWith('data: [DONE]\n\n')
    const usage = (await (await fetch(`${address}/v1/usage`, { headers: { 'x-api-key': key } })).json()) as Record<
      string,
      number
    >
    expect(usage.credits_used).toBeGreaterThan(0)
    expect((usage.credits_remaining ?? 0) + (usage.credits_used ?? 0)).toBeCloseTo(10, 9)
    await stop(first)
    const second = spawnGateway(environment)
    const again = await addressOf(second)
    expect(second.output()).not.toContain(key)
    const kept = (await (await fetch(`${again}/v1/usage`, { headers: { 'x-api-key': key } })).json()) as Record<
      string,
      number
    >
    expect(kept.credits_used).toBe(usage.credits_used)
    await stop(second)
  })
})

describe('the dashboard of a first start', () => {
  test('the demo person and the administrator of a first start can sign in', async () => {
    const administrator = { ADMIN_EMAIL: 'admin@example.test', ADMIN_PASSWORD: 'a horse on a battery' }
    const gateway = spawnGateway({ ...(await stores()), ...administrator })
    const address = await addressOf(gateway)
    expect((await fetch(`${address}/dashboard`)).headers.get('content-type')).toStartWith('text/html')
    const [, email = '', password = ''] = /In the dashboard: (\S+) with the password (\S+)/.exec(gateway.output()) ?? []
    const signIn = (who: { email: string; password: string }) =>
      fetch(`${address}/dashboard/api/session/sign-in`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: address },
        body: JSON.stringify(who),
      })
    const signedIn = await signIn({ email, password })
    expect(signedIn.status).toBe(200)
    const cookie = signedIn.headers
      .getSetCookie()
      .map((text) => text.split(';')[0])
      .join('; ')
    const me = await fetch(`${address}/dashboard/api/session/me`, { headers: { cookie } })
    const { accountId } = (await me.json()) as { accountId: string }
    const overview = await fetch(`${address}/dashboard/api/a/${accountId}/overview`, { headers: { cookie } })
    expect(await overview.text()).toContain('"10"')
    const { ADMIN_EMAIL, ADMIN_PASSWORD } = administrator
    expect((await signIn({ email: ADMIN_EMAIL, password: ADMIN_PASSWORD })).status).toBe(200)
    await stop(gateway)
  })
})

describe('SIGTERM', () => {
  test('after SIGTERM an open stream finishes and settles, and the gateway exits with 0', async () => {
    const live = liveStream()
    const upstream = startUpstream(() => live.response)
    const environment = {
      ...(await stores()),
      ...KEYED,
      PROVIDER1_BASE_URL: `${upstream.url}/v1`,
    }
    const gateway = spawnGateway(environment)
    const address = await addressOf(gateway)
    const key = demoKeyOf(gateway)
    live.write(`data: ${JSON.stringify(chatChunk({ role: 'assistant', content: 'first' }))}\n\n`)
    const response = await send(address, key, STREAM)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let text = new TextDecoder().decode((await reader.read()).value)
    gateway.kill('SIGTERM')
    await until(() => gateway.output().includes('"event":"draining"'), 'the drain to begin')
    await expect(fetch(`${address}/healthz`)).rejects.toThrow()
    for (const event of chatStream(['second']).slice(1))
      live.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    live.close()
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      text += new TextDecoder().decode(chunk.value)
    expect(text).toContain('second')
    expect(text).toEndWith('data: [DONE]\n\n')
    expect(await gateway.exited()).toBe(0)
    expect(gateway.output()).toContain('"unacknowledged":0')
    upstream.stop()
  })

  test('at the shutdown deadline streams end with an error in their own format', async () => {
    const live = liveStream()
    const upstream = startUpstream(() => live.response)
    const environment = {
      ...(await stores()),
      ...KEYED,
      PROVIDER1_BASE_URL: `${upstream.url}/v1`,
      SHUTDOWN_TIMEOUT_MS: '100',
    }
    const gateway = spawnGateway(environment)
    const address = await addressOf(gateway)
    live.write(`data: ${JSON.stringify(chatChunk({ role: 'assistant', content: 'first' }))}\n\n`)
    const response = await send(address, demoKeyOf(gateway), STREAM)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    gateway.kill('SIGTERM')
    let text = ''
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      text += new TextDecoder().decode(chunk.value)
    expect(text).toContain('"error":{')
    expect(text).not.toContain('[DONE]')
    expect(await gateway.exited()).toBe(0)
    expect(gateway.output()).toContain('"rule":"broken_counted"')
    upstream.stop()
  })
})

test('several processes share the port, a dead one is replaced, and all stop together', async () => {
  const upstream = startUpstream(() => eventStream(...chatStream(['hi'])))
  const port = String(await freePort())
  const gateway = spawnGateway({
    ...(await stores()),
    PORT: port,
    PROCESSES: '2',
    ...KEYED,
    PROVIDER1_BASE_URL: `${upstream.url}/v1`,
  })
  const address = await addressOf(gateway)
  const listeners = () => [...gateway.output().matchAll(/"event":"listening"/g)].length
  await until(() => listeners() === 2, 'both processes')
  const key = demoKeyOf(gateway)
  for (let count = 0; count < 10; count++)
    expect(await (await send(address, key, STREAM)).text()).toEndWith('[DONE]\n\n')
  const children = Bun.spawnSync(['ps', '-o', 'pid=', '--ppid', String(gateway.pid)])
    .stdout.toString()
    .trim()
    .split(/\s+/)
  expect(children).toHaveLength(2)
  process.kill(Number(children[0]), 'SIGKILL')
  await until(() => listeners() === 3, 'the replacement')
  await stop(gateway)
  for (const child of children) expect(() => process.kill(Number(child), 0)).toThrow()
  upstream.stop()
})
