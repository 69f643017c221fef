/** The generated secret of an installation: made once, by the gateway that starts first, and used by all. */
import { expect, test } from 'bun:test'
import { freshDatabase } from '@test/support/stores'
import { until } from '@test/support/until'
import { readOrCreateSecret } from '@/console/auth/secret'
import { connectDatabase, type Database } from '@/db/client'

test('gateways that start together use one generated secret, and keep it', async () => {
  const address = await freshDatabase()
  const gateways = Array.from({ length: 4 }, () => connectDatabase(address, { maxConnections: 2 }))
  const observer = connectDatabase(address)
  // Nobody finds a secret, and all reach the point of writing one before the first of them can.
  let starting: Promise<string[]> = Promise.resolve([])
  const givingUp = observer.sql.begin(async (transaction) => {
    await transaction`INSERT INTO sign_in_secret (id, secret) VALUES (1, 'the secret of a gateway that gives up')`
    starting = Promise.all(gateways.map((database) => readOrCreateSecret(database)))
    await until(async () => (await waitingWriters(observer)) === gateways.length)
    throw new Error('gives up')
  })
  await expect(givingUp).rejects.toThrow('gives up')
  const secrets = await starting
  expect(new Set(secrets).size).toBe(1)
  expect(secrets[0]).toMatch(/^[0-9A-Za-z]{43}$/)
  const [first] = gateways
  if (first) expect(await readOrCreateSecret(first)).toBe(secrets[0] ?? '')
  await Promise.all([...gateways, observer].map((database) => database.close(0)))
})

test('another installation has another generated secret', async () => {
  const databases = [connectDatabase(await freshDatabase()), connectDatabase(await freshDatabase())]
  const [first, second] = await Promise.all(databases.map((database) => readOrCreateSecret(database)))
  expect(first).not.toBe(second)
  await Promise.all(databases.map((database) => database.close(0)))
})

async function waitingWriters({ sql }: Database): Promise<number> {
  const rows = await sql`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return rows.length
}
