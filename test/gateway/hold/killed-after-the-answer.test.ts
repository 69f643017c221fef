/** A gateway killed after its answer, before Redis confirmed the settlement: the answer is charged once, whichever process dies. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, demoKeyOf, spawnGateway } from '@test/boot/process'
import { asGateway, freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion, chatStream, eventStream, startUpstream, usageOf } from '@test/support/upstream'
import postgres from 'postgres'

const USAGE = usageOf(10, 5)

let redis: TestServer
/** Requests that have reached the provider. */
let asked = 0
/** Resolved once Redis has stopped reading. */
let stopped = Promise.withResolvers<void>()

/** Both requests are reserved by then. */
const upstream = startUpstream(async ({ body }) => {
  asked += 1
  if (asked === 2) {
    process.kill(redis.pid, 'SIGSTOP')
    stopped.resolve()
  }
  await stopped.promise
  return body.stream === true
    ? eventStream(...chatStream(['Hello'], USAGE))
    : Response.json(chatCompletion('Hello', USAGE))
})
afterAll(() => upstream.stop())

async function ask(address: string, key: string, stream: boolean): Promise<string> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', stream, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  expect(response.status).toBe(200)
  return response.text()
}

/** The fates of the stopped Redis. */
const FATES: [string, () => Promise<void>][] = [
  ['reads on', async () => void process.kill(redis.pid, 'SIGCONT')],
  [
    'dies before it reads',
    async () => {
      await redis.kill()
      await redis.restart()
    },
  ],
]

test.each(FATES)('if the gateway is killed after its answers, they are charged once if Redis %s', async (_, decide) => {
  asked = 0
  stopped = Promise.withResolvers()
  redis = await startRedis()
  const folder = await mkdtemp(join(tmpdir(), 'svc-gateway-killed-'))
  const databaseUrl = await freshDatabase()
  const environment = {
    ...{ REDIS_URL: asGateway(redis.url), DATABASE_URL: asGateway(databaseUrl), PORT: '0' },
    ...{ DATA_DIR: folder, SETTLEMENT_JOURNAL: 'on', DEMO_ACCOUNT: 'on' },
    ...{ PROVIDER1_API_KEY: 'k-provider-one', PROVIDER1_BASE_URL: `${upstream.url}/v1` },
  }
  const gateway = spawnGateway(environment)
  const address = await addressOf(gateway)
  const key = demoKeyOf(gateway)
  const [json, stream] = await Promise.all([ask(address, key, false), ask(address, key, true)])
  expect([json, stream]).toEqual([expect.stringContaining('Hello'), expect.stringContaining('[DONE]')])
  gateway.kill('SIGKILL')
  await gateway.exited()
  await decide()

  const next = spawnGateway(environment)
  const nextAddress = await addressOf(next)
  const sql = postgres(databaseUrl, { max: 1 })
  const booked = () => sql`SELECT cost_nano, rule FROM usage_records`
  try {
    await until(async () => (await booked()).length === 2, 'both charges to be booked')
    const records = await booked()
    const cost = records.reduce((sum, record) => sum + Number(record.cost_nano), 0)
    expect(records.map(({ rule }) => rule)).toEqual(['usage', 'usage'])
    const credits = await fetch(`${nextAddress}/v1/credits`, { headers: { authorization: `Bearer ${key}` } })
    expect(await credits.json()).toMatchObject({ data: { total_usage: cost / 1e9 } })
    next.kill('SIGTERM')
    await next.exited()
    expect(await booked()).toHaveLength(2)
  } finally {
    await sql.end()
    await redis.stop()
    await rm(folder, { recursive: true, force: true })
  }
})
