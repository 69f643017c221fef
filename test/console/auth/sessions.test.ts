/** Sessions that a person sees, and sessions that they can end. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { listSessions } from '@/console/auth/sessions'
import type { Viewer } from '@/console/auth/viewer'
import { type Desk, openDesk, SESSION_IDLE_SECONDS, signUpSomebody } from './desk'

let desk: Desk

beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

/** Adds a session that was last used `usedSecondsAgo` ago, and lives for `leftSeconds` more. */
async function addSession({ userId }: Viewer, usedSecondsAgo: number, leftSeconds = 86_400): Promise<string> {
  const id = `sess_${crypto.randomUUID()}`
  await desk.parts.database.sql`
    INSERT INTO sessions (id, token, user_id, expires_at, updated_at) VALUES (${id}, ${id}, ${userId},
      now() + make_interval(secs => ${leftSeconds}), now() - make_interval(secs => ${usedSecondsAgo}))`
  return id
}

describe('the list', () => {
  test('sessions are listed by last use, with the current one marked', async () => {
    const { viewer } = await signUpSomebody(desk)
    const older = await addSession(viewer, 600)
    const old = await addSession(viewer, 60)
    const listed = await listSessions(desk.parts, viewer)
    expect(listed.map(({ sessionId, isCurrent }) => ({ sessionId, isCurrent }))).toEqual([
      { sessionId: viewer.sessionId, isCurrent: true },
      { sessionId: old, isCurrent: false },
      { sessionId: older, isCurrent: false },
    ])
    expect(listed[0]?.userAgent).toBe('Test browser')
    expect(listed[1]).toMatchObject({ userAgent: '', address: '' })
  })

  test('expired and idle sessions are not listed', async () => {
    const { viewer } = await signUpSomebody(desk)
    await addSession(viewer, SESSION_IDLE_SECONDS + 1)
    await addSession(viewer, 10, -1)
    const nearlyIdle = await addSession(viewer, SESSION_IDLE_SECONDS - 30)
    const nearlyOld = await addSession(viewer, 10, 30)
    const listed = (await listSessions(desk.parts, viewer)).map((session) => session.sessionId)
    expect(listed).toEqual([viewer.sessionId, nearlyOld, nearlyIdle])
  })

  test('the list of sessions shows at most a hundred', async () => {
    const { viewer } = await signUpSomebody(desk)
    await Promise.all(Array.from({ length: 104 }, (_, index) => addSession(viewer, 10 + index)))
    const listed = await listSessions(desk.parts, viewer)
    expect(listed).toHaveLength(100)
    expect(listed[0]?.isCurrent).toBe(true)
  })
})
