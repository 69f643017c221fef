/** Tokens in mails: for one purpose, for a limited time, once, and not usable from the database. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createToken, readToken, spendToken } from '@/console/auth/tokens'
import { type Desk, openDesk } from './desk'

type Row = { id: string; identifier: string; value: string; seconds: number }

let desk: Desk

beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

/** What the database holds of the token made last. */
async function newestRow(): Promise<Row> {
  const { sql } = desk.parts.database
  const [row] = await sql<Row[]>`
    SELECT id, identifier, value, extract(epoch FROM expires_at - now())::float8 AS seconds
    FROM verifications ORDER BY created_at DESC, id LIMIT 1`
  if (!row) throw new Error('no token was made')
  return row
}

test('a token identifies its person until it is used', async () => {
  const token = await createToken(desk.parts, 'reset-password', 'user_1')
  expect(token).toMatch(/^[0-9A-Za-z]{32}$/)
  expect(await readToken(desk.parts, 'reset-password', token)).toBe('user_1')
  expect(await readToken(desk.parts, 'reset-password', token)).toBe('user_1')
  expect(await spendToken(desk.parts, 'reset-password', token)).toBe(true)
  expect(await readToken(desk.parts, 'reset-password', token)).toBeUndefined()
  expect(await spendToken(desk.parts, 'reset-password', token)).toBe(false)
})

test('S20: a token is used once by concurrent attempts', async () => {
  const token = await createToken(desk.parts, 'verify-email', 'user_2')
  const spent = await Promise.all(Array.from({ length: 8 }, () => spendToken(desk.parts, 'verify-email', token)))
  expect(spent.filter((isSpent) => isSpent)).toHaveLength(1)
})

test('a token for one purpose is refused for another', async () => {
  const token = await createToken(desk.parts, 'reset-password', 'user_3')
  expect(await readToken(desk.parts, 'verify-email', token)).toBeUndefined()
  expect(await spendToken(desk.parts, 'verify-email', token)).toBe(false)
  expect(await readToken(desk.parts, 'reset-password', token)).toBe('user_3')
})

test.each([
  ['reset-password', 3_600],
  ['verify-email', 86_400],
] as const)('a token to %s lives for %d seconds, as its mail says', async (purpose, seconds) => {
  const token = await createToken(desk.parts, purpose, 'user_4')
  const row = await newestRow()
  expect(row.value).toBe('user_4')
  expect(row.seconds).toBeWithin(seconds - 30, seconds + 1)
  await desk.parts.database.sql`UPDATE verifications SET expires_at = now() WHERE id = ${row.id}`
  expect(await readToken(desk.parts, purpose, token)).toBeUndefined()
  expect(await spendToken(desk.parts, purpose, token)).toBe(false)
})

test('the database contains no usable token', async () => {
  const token = await createToken(desk.parts, 'reset-password', 'user_5')
  const row = await newestRow()
  expect(JSON.stringify(row)).not.toContain(token)
  expect(await readToken(desk.parts, 'reset-password', row.identifier)).toBeUndefined()
})
