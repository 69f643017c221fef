/** A copy of the database opens no session: it only has hashes. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { hashSessionToken } from '@/console/auth/hashed-sessions'
import { readOrCreateSecret } from '@/console/auth/secret'
import { type Desk, openDesk, signUpSomebody, visitorWith } from './desk'

let desk: Desk

beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

/** The token that a browser holds: its cookie's value before the signature. */
function tokenOf(request: Request): string {
  const value = /session_token=([^;]+)/.exec(request.headers.get('cookie') ?? '')?.[1] ?? ''
  return decodeURIComponent(value).split('.')[0] ?? ''
}

async function storedTokens(userId: string): Promise<string[]> {
  const rows = await desk.parts.database.sql<{ token: string }[]>`SELECT token FROM sessions WHERE user_id = ${userId}`
  return rows.map((row) => row.token)
}

test('the table of sessions has hashes, and no table has a token', async () => {
  const { visitor, viewer } = await signUpSomebody(desk)
  const token = tokenOf(visitor.request)
  expect(token.length).toBeGreaterThanOrEqual(32)
  expect(await storedTokens(viewer.userId)).toEqual([hashSessionToken(token)])
  const { sql } = desk.parts.database
  for (const table of ['users', 'credentials', 'sessions', 'verifications', 'two_factors', 'audit_entries']) {
    const [row] =
      await sql`SELECT count(*)::int AS found FROM ${sql(table)} AS row WHERE row::text LIKE ${`%${token}%`}`
    expect(row?.found).toBe(0)
  }
})

test('a stored hash opens no session, even signed with the stored secret', async () => {
  const { viewer } = await signUpSomebody(desk)
  const [stored = ''] = await storedTokens(viewer.userId)
  const secret = await readOrCreateSecret(desk.parts.database)
  const signature = createHmac('sha256', secret).update(stored).digest('base64')
  const cookie = `gateway.session_token=${encodeURIComponent(`${stored}.${signature}`)}`
  expect(await desk.identifyViewer(visitorWith([cookie]).request)).toBeUndefined()
})
