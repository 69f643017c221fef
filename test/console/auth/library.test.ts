/** The sign-in library's tables against ours: every field that the library may write has a column. */
import { expect, test } from 'bun:test'
import { getAuthTables } from 'better-auth/db'
import { getTableColumns } from 'drizzle-orm'
import { createLibrary } from '@/console/auth/library'
import * as tables from '@/db/auth-schema'
import { connectDatabase } from '@/db/client'
import { createLogger } from '@/lib/logger'

/** Tokens of logins at other sites, which are not offered. */
const UNUSED = ['accessToken', 'refreshToken', 'idToken', 'accessTokenExpiresAt', 'refreshTokenExpiresAt', 'scope']

test('our tables have a column for every field of the library’s tables', async () => {
  // Nothing listens there, and nothing is asked.
  const database = connectDatabase('postgres://nobody@127.0.0.1:1/none')
  const { options } = createLibrary({
    database,
    secrets: ['a-secret-for-a-test-of-forty-characters.'],
    publicUrl: undefined,
    requiresVerification: true,
    sessionMaxSeconds: 60,
    issuer: 'svc',
    logger: createLogger({ level: 'error', service: 'svc', write: () => {} }),
  })
  const { users, sessions, credentials, verifications, twoFactors } = tables
  const ours = {
    user: users,
    session: sessions,
    account: credentials,
    verification: verifications,
    twoFactor: twoFactors,
  }
  const missing = Object.entries(getAuthTables(options)).flatMap(([model, { fields }]) => {
    const table = Object.entries(ours).find(([name]) => name === model)?.[1]
    const columns = table ? Object.keys(getTableColumns(table)) : []
    return Object.keys(fields).flatMap((field) => (columns.includes(field) ? [] : [`${model}.${field}`]))
  })
  expect(missing).toEqual(UNUSED.map((field) => `account.${field}`))
  await database.close(0)
})
