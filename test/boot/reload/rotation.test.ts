/** Replaces a provider key as the deployment page describes, with two gateways of two processes under load. Slow: four processes. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, demoKeyOf, type GatewayProcess, spawnGateway } from '@test/boot/process'
import { run } from '@test/cli/run'
import { spend } from '@test/support/delays'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion, type ScriptedUpstream, startUpstream } from '@test/support/upstream'
import { freePort } from '@/boot/embedded/free-port'

const WORKERS = 6
const CALLS = 60
const PAUSE_MS = 100
const OLD_KEY = 'k-old'
const NEW_KEY = 'k-new'

let redis: TestServer
let upstream: ScriptedUpstream
let folder: string
let environment: Record<string, string>
let gateways: { gateway: GatewayProcess; address: string }[]
const valid = new Set([OLD_KEY, NEW_KEY])
const used: string[] = []

beforeAll(async () => {
  redis = await startRedis()
  folder = await mkdtemp(join(tmpdir(), 'svc-rotation-'))
  upstream = startUpstream((call) => {
    const key = (call.headers.get('authorization') ?? '').replace('Bearer ', '')
    used.push(key)
    return valid.has(key)
      ? Response.json(chatCompletion('Hello'))
      : Response.json({ error: { message: 'revoked' } }, { status: 401 })
  })
  await Bun.write(join(folder, 'key'), OLD_KEY)
  environment = {
    ...{ REDIS_URL: redis.url, DATABASE_URL: await freshDatabase(), PROCESSES: '2', DEMO_ACCOUNT: 'on' },
    ...{ PROVIDER1_API_KEY_FILE: join(folder, 'key'), PROVIDER1_BASE_URL: `${upstream.url}/v1` },
  }
  gateways = []
  for (let count = 0; count < 2; count++) {
    const gateway = spawnGateway({ ...environment, PORT: String(await freePort()) })
    gateways.push({ gateway, address: await addressOf(gateway) })
  }
})
afterAll(async () => {
  for (const { gateway } of gateways) gateway.kill('SIGTERM')
  await Promise.all(gateways.map(({ gateway }) => gateway.exited()))
  upstream.stop()
  await redis.stop()
  await rm(folder, { recursive: true, force: true })
})

test('all processes use the new provider key, and the old key can be revoked once its calls have ended', async () => {
  const key = demoKeyOf(gateways[0]?.gateway as GatewayProcess)
  const statuses: number[] = []
  let isOver = false
  const workers = Array.from({ length: WORKERS }, async (_, index) => {
    const { address } = gateways[index % 2] as { address: string }
    while (!isOver) {
      const response = await fetch(`${address}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        // Each on a connection of its own, so that any of the processes may answer.
        keepalive: false,
        body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 20 }),
      })
      await response.text()
      statuses.push(response.status)
      // Within what the key may ask in a minute.
      await spend(PAUSE_MS)
    }
  })
  await until(() => statuses.length >= CALLS, 'calls with the old key')
  expect(new Set(used)).toEqual(new Set([OLD_KEY]))
  await Bun.write(join(folder, 'key'), NEW_KEY)
  const { code, json } = await run(['catalog', 'reload'], environment)
  const taken = (json.processes as { state: string }[]).map(({ state }) => state)
  expect({ code, taken }).toEqual({ code: 0, taken: ['taken', 'taken', 'taken', 'taken'] })
  const drained = ({ gateway }: { gateway: GatewayProcess }) =>
    gateway.output().split('provider_key_drained').length - 1
  await until(() => gateways.every((each) => drained(each) === 2), 'every process to have done with the old key')
  valid.delete(OLD_KEY)
  const [usedBefore, answeredBefore] = [used.length, statuses.length]
  await until(() => statuses.length >= answeredBefore + CALLS, 'calls with the new key')
  isOver = true
  await Promise.all(workers)
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(new Set(used.slice(usedBefore))).toEqual(new Set([NEW_KEY]))
})
