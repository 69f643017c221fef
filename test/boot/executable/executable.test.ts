/** The single executable outside the checkout: requests, pages, token counts, commands, telemetry and reload work. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, demoKeyOf, type GatewayProcess, spawnGateway } from '@test/boot/process'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { startStripeStub, stripeEnvironment } from '@test/support/stripe-stub'
import { until } from '@test/support/until'
import { type OtlpReceiver, startOtlpReceiver } from '@test/telemetry/otlp-receiver'
import { freePort } from '@/boot/embedded/free-port'

const ROOT = join(import.meta.dir, '..', '..', '..')
/** A tokenizer sees far more in it than whoever goes by its length. */
const TEXT = 'ⱥ⟁꙰ '.repeat(200)

let folder: string
let program: string
let stores: Record<string, string>
let gateway: GatewayProcess
let address: string
let receiver: OtlpReceiver

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-executable-test-'))
  program = join(folder, 'svc-gateway')
  const build = Bun.spawn([process.execPath, join(ROOT, 'src', 'boot', 'executable', 'build.ts'), program], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  expect(await build.exited).toBe(0)
  const catalog = join(folder, 'catalog.json')
  await copyFile(join(ROOT, 'config', 'catalog.json'), catalog)
  stores = { REDIS_URL: await redisUrl(), DATABASE_URL: await freshDatabase(), CATALOG: catalog }
  receiver = startOtlpReceiver()
  const telemetry = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '20' }
  const port = String(await freePort())
  gateway = spawnGateway({ ...stores, ...telemetry, PORT: port, PROCESSES: '2' }, undefined, [program])
  address = await addressOf(gateway)
})
afterAll(async () => {
  gateway.kill('SIGTERM')
  await gateway.exited()
  receiver.stop()
  await rm(folder, { recursive: true, force: true })
})

function post(to: string, path: string, key: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(`${to}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

test('the executable serves a paid request, which /v1/usage shows', async () => {
  const key = demoKeyOf(gateway)
  const body = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Say hello' }] }
  const response = await post(address, '/v1/chat/completions', key, body)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: expect.any(String) } }] })
  const requestId = response.headers.get('x-request-id')
  const isItsOwn = ({ attributes }: { attributes: object }) =>
    Bun.deepMatch({ 'svc.request.id': requestId, 'svc.model': 'svc/alpha' }, attributes)
  await until(() => receiver.spans.some(isItsOwn), 'the span of the request')
})

test('the executable contains pages and guides', async () => {
  const page = await (await fetch(`${address}/dashboard`)).text()
  const [, script = ''] = /src="(\/dashboard\/assets\/[^"]+)"/.exec(page) ?? []
  for (const path of [script, '/docs', '/docs/json', '/docs/guide'])
    expect(`${path} ${(await fetch(`${address}${path}`)).status}`).toBe(`${path} 200`)
  const reference = await (await fetch(`${address}/docs`)).text()
  const [, ui = ''] = /src="(\/dashboard\/assets\/[^"]+)"/.exec(reference) ?? []
  expect([ui !== script, (await fetch(address + ui)).headers.get('content-type')]).toEqual([
    true,
    'text/javascript; charset=utf-8',
  ])
  const { paths } = await (await fetch(`${address}/docs/json`)).json()
  expect(Object.keys(paths)).toContain('/v1/chat/completions')
})

test('the executable counts tokens as the checkout does', async () => {
  const source = spawnGateway({ ...stores, PORT: '0' })
  const messages = [{ role: 'user', content: TEXT }]
  const counts = []
  for (const to of [address, await addressOf(source)])
    counts.push(
      await (await post(to, '/v1/messages/count_tokens', demoKeyOf(gateway), { model: 'svc/alpha', messages })).json(),
    )
  expect(counts[0]).toEqual(counts[1])
  expect(counts[0].input_tokens).toBeGreaterThan(TEXT.length)
  source.kill('SIGTERM')
  await source.exited()
})

test('the executable runs operator commands', async () => {
  const child = Bun.spawn([program, 'admin', 'account', 'list'], {
    env: { ...BARE_ENVIRONMENT, ...stores },
    stderr: 'inherit',
  })
  expect(JSON.parse(await new Response(child.stdout).text())).toMatchObject({ accounts: [expect.any(Object)] })
  expect(await child.exited).toBe(0)
})

test('the executable contains Stripe’s package, and loads it at the first need', async () => {
  const stripe = startStripeStub()
  const database = new Bun.SQL(stores.DATABASE_URL ?? '', { max: 1 })
  try {
    await database`INSERT INTO orders (id, account_id, method, provider, payee, reference, amount_cents, currency, state, created_at,
        expires_at, updated_at)
      SELECT 'order_1', id, 'deposit', 'stripe', 'cs_1', 'SVC-7K3M-9QXP', 5000, 'USD', 'pending', now(), now() + interval '1 day', now()
      FROM accounts LIMIT 1`
    const child = Bun.spawn([program, 'admin', 'order', 'settle', 'order_1'], {
      env: { ...BARE_ENVIRONMENT, ...stores, ...stripeEnvironment(stripe), HOST: '127.0.0.1' },
      stderr: 'inherit',
    })
    expect(JSON.parse(await new Response(child.stdout).text())).toMatchObject({ orderId: 'order_1', state: 'pending' })
    expect(await child.exited).toBe(0)
    expect(stripe.calls.map(({ line }) => line)).toEqual(['GET /v1/checkout/sessions/cs_1'])
  } finally {
    await database.close()
    await stripe.stop()
  }
})

test('the executable reloads its catalogue in both processes', async () => {
  const path = join(folder, 'catalog.json')
  const catalog = await Bun.file(path).json()
  catalog.models[0].name = 'Another name'
  await Bun.write(path, JSON.stringify(catalog))
  gateway.kill('SIGHUP')
  const areRenamed = async () => {
    const lists = await Promise.all(
      Array.from({ length: 8 }, () => fetch(`${address}/v1/models`, { keepalive: false })),
    )
    return (await Promise.all(lists.map((list) => list.text()))).every((text) => text.includes('Another name'))
  }
  await until(areRenamed, 'the new catalogue')
})
