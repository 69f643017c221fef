/** From a session cookie to a person: what is read at each request, when the session is updated, and when it ends. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createLibrary } from '@/console/auth/library'
import { readOrCreateSecret } from '@/console/auth/secret'
import { createIdentifyViewer } from '@/console/auth/viewer'
import { connectDatabase } from '@/db/client'
import { type Desk, openDesk, refusalOf, SESSION_IDLE_SECONDS, signUpSomebody } from './desk'

let desk: Desk

beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

async function setLastUse(sessionId: string, secondsAgo: number): Promise<void> {
  await desk.parts.database.sql`
    UPDATE sessions SET updated_at = now() - make_interval(secs => ${secondsAgo}) WHERE id = ${sessionId}`
}

/** Seconds since the session was noted as used; undefined if it has ended. */
async function lastUse(sessionId: string): Promise<number | undefined> {
  const [row] = await desk.parts.database.sql<{ seconds: number }[]>`
    SELECT extract(epoch FROM now() - updated_at)::float8 AS seconds FROM sessions WHERE id = ${sessionId}`
  return row?.seconds
}

describe('a request', () => {
  test('a request without a session cookie has no viewer, and causes no look-up', async () => {
    const unasked = createIdentifyViewer({
      ...desk.parts,
      library: () => Promise.reject(new Error('the library was asked')),
    })
    expect(await unasked(new Request('http://gateway.test/'))).toBeUndefined()
    await expect(unasked(new Request('http://gateway.test/', { headers: { cookie: 'a=1' } }))).rejects.toThrow(
      'was asked',
    )
  })

  test('a request with only foreign cookies has no viewer', async () => {
    const headers = { cookie: 'theme=dark; gateway.session_token=made-up.signature' }
    expect(await desk.identifyViewer(new Request('http://gateway.test/', { headers }))).toBeUndefined()
  })

  test('while the session store is unreachable, a request gets a 503, not a 401', async () => {
    const { visitor } = await signUpSomebody(desk)
    const away = connectDatabase('postgres://nobody@127.0.0.1:1/none', { connectTimeoutMs: 500 })
    const library = createLibrary({
      database: away,
      secrets: [await readOrCreateSecret(desk.parts.database)],
      publicUrl: undefined,
      requiresVerification: false,
      sessionMaxSeconds: 60,
      issuer: 'svc',
      logger: desk.parts.logger,
    })
    const identify = createIdentifyViewer({ ...desk.parts, library: async () => library })
    expect(await refusalOf(identify(visitor.request))).toEqual({ kind: 'overloaded' })
    await away.close(0)
  })
})

describe('a session', () => {
  test('a session used recently is not updated at each request', async () => {
    const { visitor, viewer } = await signUpSomebody(desk)
    await setLastUse(viewer.sessionId, 55)
    expect(await desk.identifyViewer(visitor.request)).toEqual(viewer)
    expect(await lastUse(viewer.sessionId)).toBeGreaterThan(54)
    await setLastUse(viewer.sessionId, 61)
    expect(await desk.identifyViewer(visitor.request)).toEqual(viewer)
    expect(await lastUse(viewer.sessionId)).toBeLessThan(30)
  })

  test('a session that expired while idle stays expired', async () => {
    const { visitor, viewer } = await signUpSomebody(desk)
    await setLastUse(viewer.sessionId, SESSION_IDLE_SECONDS - 30)
    expect(await desk.identifyViewer(visitor.request)).toEqual(viewer)
    await setLastUse(viewer.sessionId, SESSION_IDLE_SECONDS)
    expect(await desk.identifyViewer(visitor.request)).toBeUndefined()
    expect(await lastUse(viewer.sessionId)).toBeUndefined()
  })
})

describe('a viewer', () => {
  test('a person without an account cannot view pages, even in a valid session', async () => {
    const { visitor, viewer } = await signUpSomebody(desk)
    const { sql } = desk.parts.database
    await sql`UPDATE users SET account_id = NULL WHERE id = ${viewer.userId}`
    expect(await desk.identifyViewer(visitor.request)).toBeUndefined()
    await sql`UPDATE users SET account_id = ${viewer.ownAccountId} WHERE id = ${viewer.userId}`
    expect(await desk.identifyViewer(visitor.request)).toEqual(viewer)
  })
})
