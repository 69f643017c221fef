/** Reads by pages and management keys take turns within each account, and do not delay other accounts. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { SHARED } from '@/limits/shared-resources'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hi')) })
})
afterAll(() => gateway.stop())

test('an account that reads constantly waits for its own turn, by pages and keys; other accounts do not wait', async () => {
  const { sql } = gateway.gateway.database
  const ada = await signUpPerson(gateway)
  const bob = await signUpPerson(gateway)
  const made = await ada.json('POST', '/dashboard/api/a/:accountId/management-keys', {
    ...{ name: 'reads', scopes: ['keys:read'] },
  })
  expect(made.status).toBeLessThan(300)
  const { key } = made.body as { key: string }
  const held = await sql.reserve()
  await held`BEGIN`
  await held`LOCK TABLE api_keys`
  const waiting = async () =>
    (await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).length
  const pages = Array.from({ length: 6 }, () => ada.fetch('/dashboard/api/a/:accountId/keys'))
  await until(async () => (await waiting()) === SHARED.reads.perAccount, 'as many as have a turn')
  const byKey = fetch(`${gateway.url}/v1/keys`, { headers: { authorization: `Bearer ${key}` } })
  expect((await bob.fetch('/dashboard/api/session/me')).status).toBe(200)
  expect(await waiting()).toBe(SHARED.reads.perAccount)
  await held`ROLLBACK`
  held.release()
  expect((await Promise.all([...pages, byKey])).map(({ status }) => status)).toEqual(
    Array.from({ length: 7 }, () => 200),
  )
})

test('a turn to read ends after success and after failure', async () => {
  const ada = await signUpPerson(gateway)
  for (const _ of Array.from({ length: 2 * SHARED.reads.perAccount })) {
    expect((await ada.fetch('/dashboard/api/a/:accountId/usage?limit=nonsense')).status).toBe(400)
    expect((await ada.fetch('/dashboard/api/a/acct_none/keys')).status).toBe(404)
  }
  expect((await ada.fetch('/dashboard/api/a/:accountId/keys')).status).toBe(200)
})

test('event streams need no turn to read', async () => {
  const ada = await signUpPerson(gateway)
  const streams = await Promise.all(
    Array.from({ length: SHARED.reads.perAccount + 1 }, () => ada.fetch('/dashboard/api/a/:accountId/events')),
  )
  expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
  expect((await ada.fetch('/dashboard/api/a/:accountId/keys')).status).toBe(200)
  for (const stream of streams) await stream.body?.cancel()
})
