/** Metrics of a gateway with several processes: all processes are counted once, and no count is lost. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { addressOf, demoKeyOf, type GatewayProcess, spawnGateway } from '@test/boot/process'
import { readSeries, type Series } from '@test/metrics/metric-series'
import { leavesAfter } from '@test/support/delays'
import { promtool } from '@test/support/promtool'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion, startUpstream } from '@test/support/upstream'
import { freePort } from '@/boot/embedded/free-port'

const PROCESSES = 3
const TOKEN = 'token-of-the-scraper'
const NAMES = ['1', '2', '3']

const upstream = startUpstream(() => Response.json(chatCompletion('Hello')))
let gateway: GatewayProcess
let address: string
let key: string
let answered = 0

beforeAll(async () => {
  const port = String(await freePort())
  gateway = spawnGateway({
    ...{ REDIS_URL: await redisUrl(), DATABASE_URL: await freshDatabase(), PORT: port },
    ...{ PROVIDER1_API_KEY: 'k-provider-one', PROVIDER1_BASE_URL: `${upstream.url}/v1`, DEMO_ACCOUNT: 'on' },
    ...{ PROCESSES: String(PROCESSES), METRICS_TOKEN: TOKEN },
  })
  address = await addressOf(gateway)
  key = demoKeyOf(gateway)
})
afterAll(async () => {
  gateway.kill('SIGTERM')
  expect(await gateway.exited()).toBe(0)
  upstream.stop()
})

/** On a connection of its own, which the kernel gives to any of the processes. */
async function ask(): Promise<void> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ model: 'svc/alpha', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  expect(response.status).toBe(200)
  await response.text()
  answered++
}

/** By a process that answers: a new connection is given to another one where the first is stopped. */
async function scrapeText(): Promise<string> {
  for (;;) {
    const asked = fetch(`${address}/metrics`, {
      headers: { authorization: `Bearer ${TOKEN}`, connection: 'close' },
      signal: leavesAfter(2_500),
    })
    const response = await asked.catch(() => undefined)
    if (response?.status === 200) return response.text()
  }
}

const scrape = async (): Promise<Series> => readSeries(await scrapeText())

const REQUESTS =
  'svc_requests_total{format="chat-completions",model="svc/alpha",provider="provider1",status="200",ending="complete"}'
const upOf = (series: Series) => NAMES.map((name) => series.get(`svc_process_up{process="${name}"}`))
/** A scrape in which so many processes have answered: on a busy machine any may be late for one. */
const scrapeOf = (up: number): Promise<Series> =>
  until(async () => {
    const series = await scrape()
    return upOf(series).filter(Boolean).length === up && series
  }, `${up} processes to answer a scrape`)

/** The processes that serve, by how the system numbers them. */
function children(): number[] {
  const found = Bun.spawnSync(['ps', '-o', 'pid=', '--ppid', String(gateway.pid)]).stdout.toString()
  return found.trim().split(/\s+/).map(Number)
}

/** The names of counters and of the series of histograms in `text`. */
function growing(text: string): (series: string) => boolean {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]))
  return (series) => {
    const name = series.replace(/\{.*/, '')
    return types.get(name) === 'counter' || types.get(name.replace(/_(bucket|sum|count)$/, '')) === 'histogram'
  }
}

test('concurrent requests are counted once, whichever process answers', async () => {
  // Sixty connections, which the kernel spreads over the processes.
  await Promise.all(Array.from({ length: 60 }, ask))
  await until(async () => (await scrape()).get(REQUESTS) === 60, 'all requests to be counted')
  const scrapes = await Promise.all(Array.from({ length: 12 }, scrape))
  for (const name of [REQUESTS, 'svc_overhead_seconds_count'])
    expect(scrapes.map((series) => series.get(name))).toEqual(scrapes.map(() => 60))
})

test('values of one process are labelled with the process; shared values are not added up', async () => {
  const series = await scrapeOf(PROCESSES)
  for (const name of NAMES) expect(series.get(`process_resident_memory_bytes{process="${name}"}`)).toBeGreaterThan(1e6)
  for (const name of ['svc_flusher_healthy', 'svc_store_takes_requests'])
    expect([name, series.get(name)]).toEqual([name, 1])
  expect(series.get('svc_ledger_check_timestamp_seconds')).toBeLessThanOrEqual(Date.now() / 1000)
  expect(series.get('svc_open_streams')).toBe(0)
  expect([...series.keys()].filter((name) => /process="(?!\d")/.test(name))).toEqual([])
})

test('promtool accepts the metrics of several processes', async () => {
  expect(await promtool(['check', 'metrics'], await scrapeText())).toEqual({ code: 0, said: '' })
})

test('metrics need the token, whichever process answers', async () => {
  for (let count = 0; count < 6; count++) {
    const response = await fetch(`${address}/metrics`, { headers: { connection: 'close' } })
    expect(response.status).toBe(401)
  }
})

test('after a process was killed no counter falls, and the process is shown as down until its replacement runs', async () => {
  const seen: Series[] = []
  let isOver = false
  let isGrowing: (series: string) => boolean = () => false
  const watching = (async () => {
    while (!isOver) {
      const text = await scrapeText()
      isGrowing = growing(text)
      seen.push(readSeries(text))
    }
  })()
  const before = (await scrape()).get(REQUESTS)
  expect(before).toBe(answered)
  process.kill(children()[0] ?? 0, 'SIGKILL')
  await until(() => seen.some((series) => upOf(series).includes(0)), 'the gap to be seen')
  await until(() => Bun.deepEquals(upOf(seen.at(-1) ?? new Map()), [1, 1, 1]), 'the process to be back')
  await Promise.all(Array.from({ length: 30 }, ask))
  isOver = true
  await watching
  const falls = seen.flatMap((series, index) => {
    const later = seen[index + 1] ?? series
    return [...series].filter(([name, value]) => isGrowing(name) && !((later.get(name) ?? -1) >= value))
  })
  expect(falls).toEqual([])
  await until(async () => (await scrape()).get(REQUESTS) === answered, 'all requests to be counted')
  expect((await scrape()).get('svc_process_restarts_total')).toBe(1)
})

test('a hanging process does not delay a scrape; its last values are used', async () => {
  const before = await scrape()
  const [hanging = 0] = children()
  process.kill(hanging, 'SIGSTOP')
  try {
    const late = await scrapeOf(PROCESSES - 1)
    expect(late.get(REQUESTS)).toBe(before.get(REQUESTS))
    for (const name of NAMES) expect(late.has(`process_resident_memory_bytes{process="${name}"}`)).toBe(true)
  } finally {
    process.kill(hanging, 'SIGCONT')
  }
  await scrapeOf(PROCESSES)
  expect((await scrape()).get('svc_process_restarts_total')).toBe(before.get('svc_process_restarts_total'))
})

test('a process that stops normally reports its last counts', async () => {
  await Promise.all(Array.from({ length: 30 }, ask))
  process.kill(children()[0] ?? 0, 'SIGTERM')
  await until(async () => (await scrape()).get('svc_process_restarts_total') === 2, 'another process')
  await until(async () => (await scrape()).get(REQUESTS) === answered, 'all requests to be counted')
})
