/** The step from users with a password hash to people who sign in: nobody loses a password, everybody gets an account. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { startPostgres } from '@test/support/stores'
import { verifyPassword } from '@/accounts/passwords'
import { connectDatabase } from '@/db/client'
import { MIGRATIONS, migrate } from '@/db/migrate'

setDefaultTimeout(300_000)

test('users of before keep their passwords and roles, and each has the account of their address or a new one', async () => {
  const server = await startPostgres()
  const database = connectDatabase(server.url, { maxConnections: 2 })
  try {
    const { sql } = database
    await migrate(server.url, { migrations: MIGRATIONS.filter(({ id }) => id < 3) })
    const hash = await Bun.password.hash('correct horse', { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 })
    await sql`INSERT INTO accounts (id, name, email) VALUES ('acct_a', 'A', 'Has@Example.test'), ('acct_b', 'B', 'b@example.test')`
    await sql`INSERT INTO users (id, email, password_hash, role, account_id) VALUES
      ('user_1', 'has@example.test', ${hash}, 'member', NULL),
      ('user_2', 'Linked@Example.test', ${hash}, 'member', 'acct_b'),
      ('user_3', 'root@example.test', ${hash}, 'admin', NULL)`
    await migrate(server.url)
    const rows = await sql`SELECT users.id, email, role, email_verified, account_id, password_hash
      FROM users JOIN credentials ON user_id = users.id AND provider_account_id = users.id ORDER BY users.id`
    expect(rows.map(({ password_hash: _hash, ...row }) => row)).toEqual([
      { id: 'user_1', email: 'has@example.test', role: 'member', email_verified: true, account_id: 'acct_a' },
      { id: 'user_2', email: 'linked@example.test', role: 'member', email_verified: true, account_id: 'acct_b' },
      { id: 'user_3', email: 'root@example.test', role: 'admin', email_verified: true, account_id: 'acct_user_3' },
    ])
    for (const row of rows) expect(await verifyPassword('correct horse', row.password_hash)).toBe(true)
  } finally {
    await database.close()
    await server.stop()
  }
})
