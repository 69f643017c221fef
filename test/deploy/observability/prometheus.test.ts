/** A real Prometheus scrapes a real gateway of several processes: every named series exists, and an alert fires when Redis dies. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, demoKeyOf, type GatewayProcess, spawnGateway } from '@test/boot/process'
import { ROOT } from '@test/deploy/compose-file'
import { programPath } from '@test/support/debian'
import { promtool } from '@test/support/promtool'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatChunk, chatCompletion, eventStream, startUpstream } from '@test/support/upstream'
import { freePort } from '@/boot/embedded/free-port'
import { allQueries, labelsOf, recorded, selectorsOf } from './queries'

type Labels = Record<string, string>
type FiringAlert = { labels: Labels; annotations: Record<string, string>; state: string }

const TOKEN = 'token-of-the-scraper'
/** Of what nobody exposes: what Prometheus itself adds. */
const OF_PROMETHEUS = ['up', 'ALERTS']
const ADDED_LABELS = ['job', 'instance', 'le', 'alertname', 'alertstate', 'severity']

const upstream = startUpstream(({ body, headers }) => {
  if (headers.get('authorization')?.endsWith('refused')) return Response.json({ error: {} }, { status: 401 })
  return body.stream
    ? eventStream(chatChunk({ content: 'Hi' }), chatChunk({}, 'stop'), '[DONE]')
    : Response.json(chatCompletion('Hi'))
})
let redis: TestServer
let gateway: GatewayProcess
let prometheus: Bun.Subprocess
let folder: string
let address: string

beforeAll(async () => {
  const [gatewayPort, port] = [String(await freePort()), String(await freePort())]
  redis = await startRedis()
  folder = await mkdtemp(join(tmpdir(), 'svc-prometheus-'))
  const catalog = join(folder, 'catalog.json')
  const shipped = await Bun.file(join(ROOT, 'config', 'catalog.json')).json()
  shipped.providers.cloud = {
    format: 'chat-completions',
    baseUrl: upstream.url,
    // The upstream answers, but gives no token out.
    auth: { type: 'entra', tenant: 'one', clientId: 'two', clientSecret: 'three', authority: upstream.url },
  }
  await Bun.write(catalog, JSON.stringify(shipped))
  gateway = spawnGateway({
    CATALOG: catalog,
    ...{ REDIS_URL: redis.url, DATABASE_URL: await freshDatabase(), PORT: gatewayPort, METRICS_TOKEN: TOKEN },
    ...{ PROVIDER1_API_KEY: 'k-refused,k-provider-one', PROVIDER1_BASE_URL: `${upstream.url}/v1` },
    ...{ DEMO_ACCOUNT: 'on', PROCESSES: '2', DEPOSIT_PROVIDER: 'sandbox' },
    DEPOSIT_WEBHOOK_SECRETS: `whsec_${btoa('a secret of 24 bytes, ok')}`,
  })
  const url = await addressOf(gateway)
  for (const stream of [true, false]) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demoKeyOf(gateway)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'svc/alpha', stream, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    await response.text()
  }
  await cp(join(ROOT, 'deploy', 'prometheus'), folder, { recursive: true })
  const config = join(folder, 'prometheus.yml')
  // As it is deployed, but faster, and with the one gateway that there is.
  const text = await Bun.file(config).text()
  const asked = text
    .replaceAll(/_interval: 15s/g, '_interval: 1s')
    .replace('gateway1:3000, gateway2:3000', `127.0.0.1:${gatewayPort}`)
  await Bun.write(config, asked)
  await Bun.write(join(folder, 'metrics-token'), TOKEN)
  address = `http://127.0.0.1:${port}`
  prometheus = Bun.spawn(
    [
      programPath('prometheus'),
      ...[
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
    ],
    { stdout: 'ignore', stderr: Bun.file(join(folder, 'log')) },
  )
  await until(async () => (await fetch(`${address}/-/ready`).catch(() => undefined))?.ok, 'Prometheus')
})

afterAll(async () => {
  prometheus.kill('SIGTERM')
  await prometheus.exited
  gateway.kill('SIGTERM')
  await gateway.exited()
  upstream.stop()
  await rm(folder, { recursive: true })
})

async function ask<T>(path: string, parameters: Labels = {}): Promise<T> {
  const response = await fetch(`${address}/api/v1/${path}?${new URLSearchParams(parameters)}`)
  const { data, error } = (await response.json()) as { data: T; error?: string }
  if (error) throw new Error(`${error}: ${JSON.stringify(parameters)}`)
  return data
}

const isUp = async () => {
  const { activeTargets } = await ask<{ activeTargets: { health: string }[] }>('targets')
  return activeTargets.length > 0 && activeTargets.every(({ health }) => health === 'up')
}

test('promtool accepts the settings of Prometheus', async () => {
  const { code, said } = await promtool(['check', 'config', join(folder, 'prometheus.yml')])
  expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('SUCCESS') })
})

test('the gateway is a healthy target, and every rule evaluates', async () => {
  await until(isUp, 'the target to be up')
  type Rules = { groups: { rules: { name: string; health: string; lastError?: string }[] }[] }
  const rules = await until(async () => {
    const { groups } = await ask<Rules>('rules')
    const all = groups.flatMap((group) => group.rules)
    return all.every(({ health }) => health !== 'unknown') && all
  }, 'the rules to be worked out')
  expect(rules.length).toBeGreaterThan(30)
  expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
})

/** What rules and dashboard name and no series has. */
async function missingSeries(): Promise<string[]> {
  const series = await ask<({ __name__: string } & Labels)[]>('series', { 'match[]': '{job="svc-gateway"}' })
  const byName = Map.groupBy(series, ({ __name__ }) => __name__)
  const known = new Set([...OF_PROMETHEUS, ...(await recorded())])
  const missing = new Set<string>()
  for (const expr of await allQueries()) {
    const selectors = selectorsOf(expr)
    expect([expr, selectors.length > 0]).toEqual([expr, true])
    const labels = new Set(ADDED_LABELS)
    for (const { metric, matchers } of selectors) {
      const found = byName.get(metric) ?? []
      for (const label of found.flatMap(Object.keys)) labels.add(label)
      if (known.has(metric)) continue
      if (found.length === 0) missing.add(metric)
      for (const { label, value } of matchers)
        if (!found.some((one) => value.test(one[label] ?? ''))) missing.add(`${metric}{${label}} ${value.source}`)
    }
    for (const label of labelsOf(expr)) if (!labels.has(label)) missing.add(`${label} in ${expr}`)
  }
  return [...missing]
}

test('every series, label and value of rules and dashboard exists in the gateway', async () => {
  // A target is up before what it said can be asked for.
  await until(async () => (await missingSeries()).length === 0, 'every series').catch(() => undefined)
  expect(await missingSeries()).toEqual([])
})

test('every query of rules and dashboard has a result', async () => {
  for (const query of await allQueries())
    expect(await ask<object>('query', { query })).toMatchObject({ resultType: 'vector' })
})

test('when Redis dies its alert fires, and ends when Redis is back', async () => {
  await until(isUp, 'the target to be up')
  const firing = async () =>
    (await ask<{ alerts: FiringAlert[] }>('alerts')).alerts.filter(({ state }) => state === 'firing')
  const isRefusing = ({ labels }: FiringAlert) => labels.alertname === 'PaidRequestsRefused'
  expect((await firing()).filter(isRefusing)).toEqual([])
  await redis.kill()
  const [alert] = await until(async () => {
    const found = (await firing()).filter(isRefusing)
    return found.length > 0 && found
  }, 'the alert')
  expect(alert?.labels.severity).toBe('page')
  expect(alert?.annotations.summary).toMatch(/^127\.0\.0\.1:\d+ refuses paid requests/)
  await redis.restart()
  await until(async () => !(await firing()).some(isRefusing), 'the alert to be over')
})
