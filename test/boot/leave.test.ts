/** SIGTERM with DRAIN_DELAY_MS: requests are still answered, clients and probes are sent elsewhere, and then the port closes. */
import { afterAll, expect, test } from 'bun:test'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion, startUpstream } from '@test/support/upstream'
import postgres from 'postgres'
import { freePort } from '@/boot/embedded/free-port'
import { addressOf, demoKeyOf, type GatewayProcess, spawnGateway } from './process'

const upstream = startUpstream(() => Response.json(chatCompletion('Hello')))
afterAll(() => upstream.stop())

async function start(extra: Record<string, string>): Promise<Left> {
  const databaseUrl = await freshDatabase()
  const gateway = spawnGateway({
    ...{ REDIS_URL: await redisUrl(), DATABASE_URL: databaseUrl, PORT: '0' },
    ...{ PROVIDER1_API_KEY: 'k-provider-one', PROVIDER1_BASE_URL: `${upstream.url}/v1`, DEMO_ACCOUNT: 'on' },
    ...extra,
  })
  const address = await addressOf(gateway)
  return { gateway, address, key: demoKeyOf(gateway), databaseUrl }
}

async function startLeaving(signal: NodeJS.Signals, extra: Record<string, string>): Promise<Left> {
  const started = await start(extra)
  started.gateway.kill(signal)
  return started
}

type Left = { gateway: GatewayProcess; address: string; key: string; databaseUrl: string }

function ask({ address, key }: Left): Promise<Response> {
  return fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }),
  })
}

/** Longer than a test lasts, however busy the machine is. */
const LONG = { DRAIN_DELAY_MS: '600000' }

/** Ends it before its delay is over. One that comes within a second is an echo of the first. */
async function endAtOnce({ gateway }: Left): Promise<void> {
  const repeat = setInterval(() => gateway.kill('SIGTERM'), 300)
  expect(await gateway.exited()).toBe(1)
  clearInterval(repeat)
}

test('during DRAIN_DELAY_MS requests are answered, readiness fails, and each answer closes its connection', async () => {
  const left = await startLeaving('SIGTERM', LONG)
  await until(() => left.gateway.output().includes('"event":"leaving"'), 'the gateway to leave')
  const readiness = await fetch(`${left.address}/readyz`)
  expect([readiness.status, readiness.headers.get('connection')]).toEqual([503, 'close'])
  expect(await readiness.json()).toEqual({ status: 'draining' })
  const answer = await ask(left)
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  expect(await answer.text()).toContain('Hello')
  for (const path of ['/healthz', '/docs', '/dashboard', '/nowhere', '/']) {
    const response = await fetch(left.address + path, { redirect: 'manual' })
    expect([path, response.headers.get('connection')]).toEqual([path, 'close'])
    await response.arrayBuffer()
  }
  expect(left.gateway.output()).not.toContain('"event":"draining"')
  await endAtOnce(left)
})

test.each(['1', '2'])(
  'after DRAIN_DELAY_MS the port closes, and open requests end (PROCESSES=%s)',
  async (processes) => {
    const { gateway } = await startLeaving('SIGTERM', {
      ...{ DRAIN_DELAY_MS: '500', PROCESSES: processes, PORT: String(await freePort()) },
    })
    expect(await gateway.exited()).toBe(0)
    expect(
      gateway
        .output()
        .match(/"event":"(leaving|draining)"/g)
        ?.slice(-1),
    ).toEqual(['"event":"draining"'])
  },
)

test('several processes drain together, and a second signal ends them together', async () => {
  const port = String(await freePort())
  const left = await startLeaving('SIGTERM', { ...LONG, PROCESSES: '2', PORT: port })
  await until(() => left.gateway.output().split('"event":"leaving"').length === 3, 'both processes to leave')
  for (let count = 0; count < 6; count++) expect((await ask(left)).status).toBe(200)
  await endAtOnce(left)
  const isServed = () => fetch(`${left.address}/healthz`).catch(() => undefined)
  await until(async () => !(await isServed()), 'nobody to serve any more')
})

test('a second signal ends a draining gateway at once', async () => {
  const left = await startLeaving('SIGTERM', LONG)
  await until(() => left.gateway.output().includes('"event":"leaving"'), 'the gateway to leave')
  await endAtOnce(left)
})

test('Ctrl-C skips the drain delay', async () => {
  const { gateway } = await startLeaving('SIGINT', LONG)
  expect(await gateway.exited()).toBe(0)
  expect(gateway.output()).not.toContain('"event":"leaving"')
})

test.each([1, 2])('after %d processes have stopped, all charges are in Postgres', async (processes) => {
  const several = { PROCESSES: String(processes), PORT: String(await freePort()) }
  const left = await start({ DRAIN_DELAY_MS: '0', ...several })
  const answers = await Promise.all(Array.from({ length: 3 }, () => ask(left)))
  // At once: the records are still gathering.
  left.gateway.kill('SIGTERM')
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(await left.gateway.exited()).toBe(0)
  const sql = postgres(left.databaseUrl, { max: 1 })
  // The store is that of other tests as well, whose gateways may have left records there.
  const [booked] = await sql`
    SELECT count(*)::integer AS records FROM usage_records WHERE account_id IN (SELECT id FROM accounts)`
  await sql.end()
  expect(booked?.records).toBe(answers.length)
})
