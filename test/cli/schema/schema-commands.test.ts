/** The command that migrates the schema: needs only the address of the schema's owner, before a gateway runs. */
import { expect, test } from 'bun:test'
import { run } from '@test/cli/run'
import { freshDatabase } from '@test/support/stores'
import { connectDatabase } from '@/db/client'
import { MIGRATIONS } from '@/db/migrate'

test('schema migrate brings an empty database to this version, and does nothing in a second run', async () => {
  const address = await freshDatabase()
  const database = connectDatabase(address, { maxConnections: 1 })
  await database.sql.unsafe('DROP SCHEMA public CASCADE; CREATE SCHEMA public AUTHORIZATION svc_migrator')
  const migrate = () => run(['schema', 'migrate'], { DATABASE_MIGRATOR_URL: `${address}?role=svc_migrator` })
  const { applied } = (await migrate()).json as { applied: string[] }
  expect(applied).toEqual(MIGRATIONS.map(({ id, name }) => `${id} (${name})`))
  const [table] = await database.sql`SELECT tableowner AS owner FROM pg_tables WHERE tablename = 'accounts'`
  expect(table?.owner).toBe('svc_migrator')
  expect(await migrate()).toMatchObject({ code: 0, json: { applied: [] } })
  await database.close()
})

test('schema migrate without an address names the settings for it', async () => {
  const { code, stderr } = await run(['schema', 'migrate'], {})
  expect(code).toBe(1)
  expect(stderr).toBe('neither DATABASE_MIGRATOR_URL nor DATABASE_URL is set\n')
})
