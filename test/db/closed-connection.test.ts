/** A connection that the server closes fails only its own statements; without our patch, the driver would end the process. */
import { expect, test } from 'bun:test'
import { freshDatabase } from '@test/support/stores'
import { until } from '@test/support/until'
import { connectDatabase } from '@/db/client'

test('a transaction on a closed connection is rejected, and the pool continues', async () => {
  const url = await freshDatabase()
  const database = connectDatabase(url, { maxConnections: 1 })
  const killer = connectDatabase(url, { maxConnections: 1 })
  const failures: unknown[] = []
  const transaction = database.sql.begin(async (connection) => {
    const [row] = await connection<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
    await killer.sql`SELECT pg_terminate_backend(${row?.pid ?? 0})`
    for (let attempt = 0; attempt < 3; attempt++) {
      await connection`SELECT 1`.catch((error: unknown) => failures.push(error))
    }
  })
  await expect(transaction).rejects.toThrow('CONNECTION_CLOSED')
  const answers = () =>
    database.sql`SELECT 1`.then(
      () => true,
      () => false,
    )
  await until(answers, 'the pool to answer')
  await until(() => failures.length === 3, 'every statement to be rejected')
  await database.close(0)
  await killer.close(0)
})
