/** SIGHUP to one process or to a supervisor, with a valid and a faulty file. Slow: gateways of several processes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, demoKeyOf, type GatewayProcess, spawnGateway } from '@test/boot/process'
import { run } from '@test/cli/run'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatStream, eventStream, type ScriptedUpstream, startUpstream } from '@test/support/upstream'
import { freePort } from '@/boot/embedded/free-port'
import { connectDatabase } from '@/db/client'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

let upstream: ScriptedUpstream
let redis: TestServer
let folder: string

beforeAll(async () => {
  upstream = startUpstream(() => eventStream(...chatStream(['hi'])))
  redis = await startRedis()
  folder = await mkdtemp(join(tmpdir(), 'reload-'))
})
afterAll(async () => {
  upstream.stop()
  await redis.stop()
  await rm(folder, { recursive: true })
})

type Started = { gateway: GatewayProcess; address: string; path: string; environment: Record<string, string> }

async function start(
  processes: string,
  whileStarting?: (started: Omit<Started, 'address'>) => Promise<void>,
): Promise<Started> {
  const path = join(folder, `catalog-${processes}.json`)
  await Bun.write(path, Bun.file('config/catalog.json'))
  const environment = {
    REDIS_URL: redis.url,
    DATABASE_URL: await freshDatabase(),
    PORT: String(await freePort()),
    PROCESSES: processes,
    CATALOG: path,
    PROVIDER1_API_KEY: 'k-provider-one',
    PROVIDER1_BASE_URL: `${upstream.url}/v1`,
    DEMO_ACCOUNT: 'on',
  }
  const gateway = spawnGateway(environment)
  await whileStarting?.({ gateway, path, environment })
  return { gateway, address: await addressOf(gateway), path, environment }
}

function linesOf({ gateway }: Pick<Started, 'gateway'>, event: string): JsonObject[] {
  const lines = gateway
    .output()
    .split('\n')
    .map((line) => parseJson(line))
  return lines.filter((line): line is JsonObject => isJsonObject(line) && line.event === event)
}

async function rename(path: string, from: string, to: string): Promise<void> {
  await Bun.write(path, (await Bun.file(path).text()).replaceAll(`"${from}"`, `"${to}"`))
}

function ask({ address, gateway }: Started, model: string): Promise<Response> {
  return fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${demoKeyOf(gateway)}`, 'content-type': 'application/json' },
    // Each on a connection of its own, so that any of the processes may answer.
    keepalive: false,
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Say hello' }] }),
  })
}

describe.each(['1', '2'])('a gateway with PROCESSES=%s', (processes) => {
  test('SIGHUP loads a valid catalogue file in all processes, and a faulty one in none', async () => {
    const started = await start(processes)
    const { gateway, path, environment } = started
    const count = Number(processes)
    await rename(path, 'svc/alpha', 'svc/omega')
    gateway.kill('SIGHUP')
    await until(() => linesOf(started, 'catalog_reloaded').length === count, 'the new catalogue')
    for (let index = 0; index < 8; index++) {
      expect((await ask(started, 'svc/omega')).status).toBe(200)
      expect((await ask(started, 'svc/alpha')).status).toBe(404)
    }
    const sound = await Bun.file(path).text()
    await Bun.write(path, sound.slice(0, -100))
    gateway.kill('SIGHUP')
    await until(() => linesOf(started, 'catalog_refused').length === count, 'the refusal')
    expect((await ask(started, 'svc/omega')).status).toBe(200)
    await Bun.write(path, sound)
    await rename(path, 'svc/omega', 'svc/alpha')
    const { code, json } = await run(['catalog', 'reload'], environment)
    expect(code).toBe(0)
    const taken = json.processes as { gateway: string; state: string }[]
    expect(taken.map(({ state }) => state)).toEqual(Array.from({ length: count }, () => 'taken'))
    expect(new Set(taken.map((one) => one.gateway)).size).toBe(1)
    expect((await ask(started, 'svc/alpha')).status).toBe(200)
    await until(() => linesOf(started, 'catalog_reloaded').length === 2 * count, 'the log lines')
    gateway.kill('SIGTERM')
    expect(await gateway.exited()).toBe(0)
  })
})

test('a catalogue file that changes during the start is read again after a SIGHUP', async () => {
  const started = await start('1', async ({ gateway, path, environment }) => {
    const { sql, close } = connectDatabase(environment.DATABASE_URL ?? '', { maxConnections: 2 })
    await sql.begin(async (lock) => {
      // Until this ends the start cannot make its demo account, and has its file read.
      await lock`LOCK TABLE accounts`
      // Other files have their databases on the same server.
      const waiting = () => sql`SELECT 1 FROM pg_locks
        JOIN pg_database ON pg_database.oid = pg_locks.database WHERE NOT granted AND datname = current_database()`
      const isHeldUp = async () => (await waiting()).length > 0
      await until(isHeldUp, 'the start to be held up')
      await rename(path, 'svc/alpha', 'svc/omega')
      gateway.kill('SIGHUP')
    })
    await close()
  })
  await until(() => linesOf(started, 'catalog_reloaded').length === 1, 'the new catalogue')
  expect((await ask(started, 'svc/omega')).status).toBe(200)
  started.gateway.kill('SIGTERM')
  expect(await started.gateway.exited()).toBe(0)
})

test.each(['1', '2'])(
  'closing the terminal ends a gateway that was started in it (PROCESSES=%s)',
  async (processes) => {
    let shown = ''
    function show(_: unknown, bytes: Uint8Array): void {
      shown += new TextDecoder().decode(bytes)
    }
    const child = Bun.spawn([process.execPath, 'src/main.ts'], {
      env: {
        ...BARE_ENVIRONMENT,
        ...{ HOST: '127.0.0.1', PORT: String(await freePort()), PROCESSES: processes },
        ...{ REDIS_URL: redis.url, DATABASE_URL: await freshDatabase(), SETTLEMENT_JOURNAL: 'off' },
      },
      terminal: { cols: 200, rows: 40, data: show },
    })
    await until(() => shown.includes('ready at'), 'the banner')
    process.kill(child.pid, 'SIGHUP')
    await until(() => shown.includes('catalog_reloaded'), 'the reload')
    child.terminal?.close()
    expect(await child.exited).toBe(0)
  },
)

test('the reload command fails with an explanation if no gateway runs', async () => {
  const environment = { REDIS_URL: redis.url, DATABASE_URL: await freshDatabase() }
  const { code, stderr } = await run(['catalog', 'reload'], environment)
  expect([code, stderr]).toEqual([1, 'no gateway runs on these stores\n'])
})
