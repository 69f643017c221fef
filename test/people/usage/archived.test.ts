/** What customers see of archived months: a note that they are archived, their daily sums, and never an empty list without a note. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { recordOf } from '@test/console/administration/usage-archive/archive-world'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { COMMAND_TIMEOUT_MS } from '@test/support/stores'
import { PATIENCE_MS } from '@test/support/until'
import { type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import { OPERATOR } from '@/accounts/audit'
import { archiveUsage } from '@/console/administration/usage-archive/usage-archive'
import { connectDatabase } from '@/db/client'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import { writeUsageBatch } from '@/usage/write-batch'

const HORIZON = '2025-10-01T00:00:00.000Z'
let gateway: TestGateway
let ada: SignedInCustomer
let eve: SignedInCustomer

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json({}) })
  ada = await signUpCustomer(gateway, '5')
  eve = await signUpCustomer(gateway, '5')
  const owner = connectDatabase(`${gateway.stores.databaseUrl}?role=svc_migrator`, { maxConnections: 2 })
  const redis = connectRedis(gateway.stores.redisUrl, { logger: silentLogger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(redis, PATIENCE_MS)
  await owner.sql`SELECT ensure_usage_partitions('2025-09-01', 2)`
  const gone = { recordId: 'req_archived', holdId: 'req_archived', keyId: ada.keyId, cost: 500_000_000 }
  await writeUsageBatch(owner.sql, [
    recordOf(ada.accountId, '2025-09-10', gone),
    recordOf(ada.accountId, '2025-09-10', { keyId: ada.keyId, cost: 1_000_000, facts: { status: 502 } }),
    recordOf(ada.accountId, '2025-10-10', { keyId: ada.keyId, cost: 250_000_000 }),
    recordOf(eve.accountId, '2025-10-10', { cost: 1 }),
  ])
  await archiveUsage({ owner, redis, by: OPERATOR }, '2025-10')
  redis.disconnect()
  await owner.close()
})
afterAll(() => gateway.stop())

async function get(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const { status, body } = await ada.person.json('GET', `/dashboard/api/a/:accountId/usage${path}`)
  return { status, body: body as Record<string, unknown> }
}

const AUTUMN = 'from=2025-09-01T00:00:00Z&to=2025-11-01T00:00:00Z'
const SEPTEMBER = 'from=2025-09-01T00:00:00Z&to=2025-10-01T00:00:00Z'
const OCTOBER = 'from=2025-10-01T00:00:00Z&to=2025-11-01T00:00:00Z'

test('the usage list has the date of its first request', async () => {
  expect((await get(`?${AUTUMN}`)).body).toMatchObject({
    items: [{ cost: '0.25' }],
    nextCursor: null,
    archivedBefore: HORIZON,
  })
  for (const filter of ['', `&key=${ada.keyId}`, '&model=svc/alpha', '&status=error', '&requestedModel=auto-smart']) {
    expect((await get(`?${SEPTEMBER}${filter}`)).body).toMatchObject({
      items: [],
      nextCursor: null,
      archivedBefore: HORIZON,
    })
  }
  expect((await get(`?${OCTOBER}`)).body).toMatchObject({ items: [{ cost: '0.25' }], archivedBefore: null })
})

test('sums and chart include archived days, and name dimensions that these days lack', async () => {
  expect((await get(`/totals?${AUTUMN}`)).body).toMatchObject({
    cost: '0.751',
    requests: 3,
    errors: 1,
    archivedBefore: null,
  })
  expect((await get(`/totals?${AUTUMN}&status=error`)).body).toMatchObject({
    requests: 0,
    isComplete: true,
    archivedBefore: HORIZON,
  })
  expect((await get(`/totals?${AUTUMN}&status=ok`)).body).toMatchObject({
    requests: 1,
    cost: '0.25',
    archivedBefore: HORIZON,
  })
  const noon = 'from=2025-09-10T06:00:00Z&to=2025-09-11T06:00:00Z'
  expect((await get(`/totals?${noon}`)).body).toMatchObject({ requests: 0, archivedBefore: HORIZON })
  expect((await get(`/series?${noon}`)).body).toMatchObject({
    step: 'day',
    points: [{ cost: '0.501' }],
    archivedBefore: null,
  })
  expect((await get(`/series?${AUTUMN}&group=key`)).body).toMatchObject({
    points: [{ cost: '0.501' }, { cost: '0.25' }],
    archivedBefore: null,
  })
  expect((await get(`/series?${AUTUMN}&group=status`)).body).toMatchObject({
    points: [{ cost: '0.25', group: 'ok' }],
    archivedBefore: HORIZON,
  })
})

test('an export says that archived requests are missing', async () => {
  const refused = await get(`/export?${AUTUMN}`)
  expect(refused).toMatchObject({ status: 400 })
  expect(JSON.stringify(refused.body)).toContain('requests before 2025-10-01 are archived')
  const file = await ada.person.fetch(`/dashboard/api/a/:accountId/usage/export?${OCTOBER}`)
  expect((await file.text()).trim().split('\r\n')).toHaveLength(2)
})

test('the page of an archived request differs from the page of an unknown request', async () => {
  const { status, body } = await get('/requests/req_archived')
  expect(status).toBe(404)
  expect(JSON.stringify(body)).toContain('Requests before 2025-10-01 are archived.')
})

test('the statement has archived spending, and GET /v1/usage says where its list ends', async () => {
  const { body } = await ada.person.json('GET', '/dashboard/api/a/:accountId/statement?from=2025-09-01&to=2025-09-30')
  expect(JSON.stringify(body)).toContain('-0.501')
  const usage = async (key: string) => {
    const answer = await fetch(`${gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } })
    return await answer.json()
  }
  expect(await usage(ada.key)).toMatchObject({ recentUsage: [{ credits: 0.25 }], archivedBefore: HORIZON })
  // Nothing of hers is archived.
  expect(await usage(eve.key)).not.toHaveProperty('archivedBefore')
})
