/** A start with a real provider key, seen from outside: strangers get no account, credit or answer. Slow: each case starts a process. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatStream, eventStream, startUpstream } from '@test/support/upstream'
import { addressOf, type GatewayProcess, spawnGateway } from './process'

async function stores(): Promise<Record<string, string>> {
  return { REDIS_URL: await redisUrl(), DATABASE_URL: await freshDatabase(), PORT: '0' }
}

async function stop(gateway: GatewayProcess): Promise<void> {
  // The banner comes a moment before the gateway listens for signals; this line comes later.
  await until(() => gateway.output().includes('"event":"listening"'), 'the first lines of the log')
  gateway.kill('SIGTERM')
  expect(await gateway.exited()).toBe(0)
}

function signUp(address: string): Promise<Response> {
  return fetch(`${address}/dashboard/api/session/sign-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: address },
    body: JSON.stringify({ email: 'stranger@example.test', password: 'a horse on a battery', name: 'Stranger' }),
  })
}

describe('a start with a provider key and no NODE_ENV', () => {
  const upstream = startUpstream(() => eventStream(...chatStream(['worth money'])))
  const key = { PROVIDER1_API_KEY: 'k-provider-one', PROVIDER1_BASE_URL: `${upstream.url}/v1` }
  let gateway: GatewayProcess
  let address = ''
  beforeAll(async () => {
    gateway = spawnGateway({ ...(await stores()), ...key })
    address = await addressOf(gateway)
  })
  afterAll(async () => {
    await stop(gateway)
    upstream.stop()
  })

  test('with a provider key sign-up is closed', async () => {
    const response = await signUp(address)
    expect(response.status).toBe(403)
    expect(await response.text()).toContain('sign_up_closed')
  })

  test('with a provider key there is no demo account, and neither key nor password is printed', () => {
    expect(gateway.output()).not.toMatch(/svc-[0-9A-Za-z]{36}/)
    expect(gateway.output()).not.toContain('with the password')
  })

  test('with a provider key there is no page for simulated payments', async () => {
    const page = await fetch(`${address}/sandbox/deposits/anything`)
    expect(page.status).toBe(404)
  })

  test('with a provider key, the start prints one line about who can reach which feature', () => {
    expect(gateway.output()).toMatch(
      /Reach {8}this machine only \(127\.0\.0\.1\): your providers' answers, for keys with credit; sign-up closed; no deposits/,
    )
  })

  test('with a provider key and the deposit sandbox, a gateway on a public host does not start', async () => {
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
    const open = spawnGateway({
      ...(await stores()),
      ...key,
      HOST: '0.0.0.0',
      DEPOSIT_PROVIDER: 'sandbox',
      DEPOSIT_WEBHOOK_SECRETS: secret,
    })
    expect(await open.exited()).toBe(1)
    expect(open.output()).toContain('DEPOSIT_PROVIDER: the sandbox credits what nobody paid')
  })
})

test('the start reports simulated credit in the books when a provider key is set', async () => {
  const kept = await stores()
  const first = spawnGateway(kept)
  await addressOf(first)
  expect(first.output()).not.toContain('nobody has paid for')
  await stop(first)
  const second = spawnGateway({ ...kept, PROVIDER1_API_KEY: 'k-provider-one' })
  await addressOf(second)
  expect(second.output()).toContain('These books hold 10 USD of credit that nobody has paid for')
  await stop(second)
})

test('without provider key and HOST the gateway listens on loopback, and the banner says so', async () => {
  const gateway = spawnGateway({ ...(await stores()), HOST: '' })
  const address = await addressOf(gateway)
  expect(gateway.output()).toMatch(/Reach {8}this machine only \(127\.0\.0\.1\): simulated answers; sign-up open/)
  expect((await fetch(`${address}/healthz`)).status).toBe(200)
  await stop(gateway)
  expect(gateway.output()).toContain('"host":"127.0.0.1"')
})
