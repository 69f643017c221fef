/** Bug 10 of similar products: each request needs the database, so that its faults stop the service, and readiness does not show it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { startPostgres, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { migrate } from '@/db/migrate'
import { chat, PRICE } from './support'

const REQUESTS = 50
let postgres: TestServer
let gateway: TestGateway

beforeAll(async () => {
  // What was committed must survive the kill, as it does in production.
  postgres = await startPostgres({ settings: { synchronous_commit: 'on' } })
  await migrate(postgres.url)
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello', usageOf(10, 5))),
    databaseUrl: postgres.url,
  })
})
afterAll(async () => {
  await gateway.stop()
  await postgres.stop()
})

test('while the database is down paid requests work, readiness reports it, and the charges are booked later', async () => {
  const { accountId, key } = await gateway.customer('1')
  expect((await chat(gateway.url, key)).status).toBe(200)
  await postgres.kill()
  const answers = await Promise.all(Array.from({ length: REQUESTS }, () => chat(gateway.url, key)))
  expect(answers.map(({ status }) => status)).toEqual(Array(REQUESTS).fill(200))
  // Backends outlive a killed postmaster for a moment.
  const ready = await until(async () => {
    const response = await fetch(`${gateway.url}/readyz`)
    const body = (await response.json()) as { status: string; reasons?: Record<string, string> }
    return body.reasons?.postgres !== undefined && { status: response.status, body }
  }, 'readiness to name the database')
  expect(ready).toMatchObject({ status: 200, body: { status: 'degraded', reasons: { postgres: 'unreachable' } } })
  expect((await gateway.balance(accountId)).spent as number).toBe(
    (REQUESTS + 1) * (10 * PRICE.input + 5 * PRICE.output),
  )
  await postgres.restart()
  const booked = await until(async () => {
    const { sql } = gateway.gateway.database
    const rows = await sql`SELECT cost_nano FROM usage_records WHERE account_id = ${accountId}`.catch(() => [])
    return rows.length === REQUESTS + 1 && rows.reduce((sum, row) => sum + Number(row.cost_nano), 0)
  }, 'the charges to be booked')
  expect(booked).toBe((REQUESTS + 1) * (10 * PRICE.input + 5 * PRICE.output))
})
