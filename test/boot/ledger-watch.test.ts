/** The automatic ledger check: finds planted violations, reports each once among all gateways, and stops with its gateway. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { addToStored } from '@test/ledger/store/stored'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { Redis } from 'ioredis'
import { createLedgerHistory } from '@/accounts/history'
import { createLedgerWatch } from '@/boot/ledger-watch'
import { connectRedis, type RedisClient } from '@/ledger/store/connection'
import { accountName } from '@/ledger/store/names'
import { createLogger } from '@/lib/logger'
import type { BackgroundWorker } from '@/lib/worker-loop'
import type { DriftReport } from '@/metrics/metrics'

let server: TestServer
let gateway: TestGateway
let customer: Customer
let redis: RedisClient
let raw: Redis
const lines: string[] = []
const logger = createLogger({ level: 'debug', write: (line) => lines.push(line), service: 'svc' })

beforeAll(async () => {
  server = await startRedis()
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')), redisUrl: server.url })
  customer = await gateway.customer('1')
  redis = connectRedis(server.url, { logger, commandTimeoutMs: 5_000, name: 'test' })
  raw = new Redis(server.url)
})
afterAll(async () => {
  raw.disconnect()
  redis.disconnect()
  await gateway.stop()
  await server.stop()
})

function watch(intervalMs: number): { watch: BackgroundWorker; reports: DriftReport[] } {
  const reports: DriftReport[] = []
  const { database } = gateway.gateway
  const onReport = (report: DriftReport) => reports.push(report)
  const history = createLedgerHistory(database)
  return { watch: createLedgerWatch({ redis, database, history, logger, onReport, intervalMs }), reports }
}

test('the ledger watch logs a violation, counts it by kind in the metrics, and reports when it has ended', async () => {
  const { watch: watching, reports } = watch(40)
  await gateway.balance(customer.accountId)
  watching.start()
  await until(() => reports.at(-1)?.accounts === 1 && Object.keys(reports.at(-1)?.violations ?? {}).length === 0)

  await addToStored(raw, 'account', accountName(customer.accountId), { available: 5 })
  await until(() => reports.at(-1)?.violations.balance_differs === 1, 'the planted credit to be found')
  const line = lines.find((one) => one.includes('"ledger_drift"')) ?? ''
  expect(JSON.parse(line)).toMatchObject({ level: 'error', kind: 'balance_differs', accountId: customer.accountId })
  await addToStored(raw, 'account', accountName(customer.accountId), { available: -5 })
  await until(() => Object.keys(reports.at(-1)?.violations ?? {}).length === 0, 'the books to be whole again')

  const { sql } = gateway.gateway.database
  await sql`UPDATE accounts SET spent_nano = spent_nano + 7 WHERE id = ${customer.accountId}`
  await until(() => reports.at(-1)?.violations.history_balance_differs === 1, 'the planted sum to be found')
  await sql`UPDATE accounts SET spent_nano = spent_nano - 7 WHERE id = ${customer.accountId}`
  await until(() => Object.keys(reports.at(-1)?.violations ?? {}).length === 0, 'the sums to be whole again')
  await watching.stop()
  const count = reports.length
  expect(await raw.exists('ledger-check:turn')).toBe(0)
  expect(reports).toHaveLength(count)
})

test('the ledger watch scans the whole store once a day, and otherwise only reads its lists', async () => {
  const scans = async () => Number(/cmdstat_scan:calls=(\d+)/.exec(await raw.info('commandstats'))?.[1] ?? 0)
  await raw.del('ledger-check:searched', 'ledger-check:report')
  const { watch: watching, reports } = watch(40)
  const before = await scans()
  watching.start()
  await until(() => reports.length > 0, 'the first check')
  const searched = await scans()
  expect(searched).toBeGreaterThan(before)
  expect(await raw.pttl('ledger-check:searched')).toBeGreaterThan(23 * 3_600_000)
  await until(() => reports.length > 5, 'more checks')
  await watching.stop()
  expect(await scans()).toBe(searched)
  expect(reports.map(({ accounts }) => accounts)).toEqual(reports.map(() => 1))
})

test('one gateway checks the ledger at a time, and the others show its result', async () => {
  await raw.del('ledger-check:report')
  const [one, other] = [watch(60_000), watch(60_000)]
  await raw.set('ledger-check:turn', 'a gateway that died', 'PX', 60_000)
  one.watch.start()
  await one.watch.stop()
  expect(one.reports).toHaveLength(0)

  const found = { atMs: 1, durationMs: 2, accounts: 3, violations: { overdrawn: 4 } }
  await raw.set('ledger-check:report', JSON.stringify(found), 'PX', 60_000)
  other.watch.start()
  await until(() => other.reports.length > 0)
  await other.watch.stop()
  expect(other.reports).toEqual([found])
  expect(await raw.get('ledger-check:turn')).toBe('a gateway that died')
  await raw.del('ledger-check:turn', 'ledger-check:report')
})

test('a gateway checks the ledger at its start and shows violations in its metrics', async () => {
  await addToStored(raw, 'account', accountName(customer.accountId), { available: 5 })
  const stores = { redisUrl: gateway.stores.redisUrl, databaseUrl: gateway.stores.databaseUrl }
  const respond = () => Response.json(chatCompletion('Hello'))
  const watched = await startGateway({ ...stores, respond, watchesLedger: true })
  const text = await until(async () => {
    const now = await (await fetch(`${watched.url}/metrics`)).text()
    return now.includes('svc_ledger_drift_violations{kind="balance_differs"} 1') && now
  }, 'the drift to show')
  expect(text).toContain('svc_ledger_drift_violations{kind="total"} 1')
  expect(text).toMatch(/svc_ledger_check_timestamp_seconds 1\d{9}/)
  await watched.stop()
  await addToStored(raw, 'account', accountName(customer.accountId), { available: -5 })
})

test('if Redis is unreachable, the ledger watch logs a warning, reports nothing and continues', async () => {
  await raw.del('ledger-check:report', 'ledger-check:turn')
  const { watch: watching, reports } = watch(40)
  await server.kill()
  watching.start()
  await until(() => lines.some((line) => line.includes('ledger_check_failed')), 'the failure to be logged')
  expect(reports).toHaveLength(0)
  await server.restart()
  await until(() => reports.length > 0, 'a report')
  await watching.stop()
})
