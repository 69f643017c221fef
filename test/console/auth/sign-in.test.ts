/** Signing in: which attempts count, what a refusal reveals, and what follows a success. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectAtLeast } from '@test/support/at-least'
import { totpCode } from '@test/support/totp'
import { until } from '@test/support/until'
import { hashPassword } from '@/accounts/passwords'
import { signInsFrom, strangersAt } from '@/console/auth/limits'
import { finishSignIn, signIn, signOut } from '@/console/auth/sign-in'
import { confirmTotp, enableTotp } from '@/console/auth/totp/second-factor'
import { type Desk, newAddress, openDesk, PASSWORD, refusalOf, signUpSomebody, visitorWith } from './desk'

const WRONG = { kind: 'invalid_credentials', code: 'wrong_credentials' }
const TOO_MANY = { kind: 'rate_limited', code: 'too_many_attempts' }
/** As long as a refusal takes at least. */
const REFUSAL_MS = 200
/** Guesses at one account that all strangers have together. */
const STRANGERS = 100

let desk: Desk

beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

async function sessionCount(userId: string): Promise<number> {
  const rows = await desk.parts.database.sql`SELECT id FROM sessions WHERE user_id = ${userId}`
  return rows.length
}

describe('a refusal', () => {
  test('S19: a wrong password takes as long as an unknown address', async () => {
    const { email } = await signUpSomebody(desk)
    for (const name of [email, 'nobody@example.test']) {
      const guess = () => refusalOf(signIn(desk.parts, visitorWith(), { email: name, password: 'wrong' }))
      expect(await expectAtLeast(REFUSAL_MS, guess)).toEqual(WRONG)
    }
  })

  test('a refused sign-in opens no session, and keeps the session that the browser has', async () => {
    const { visitor, viewer, email } = await signUpSomebody(desk)
    expect(await refusalOf(signIn(desk.parts, visitor, { email, password: 'wrong' }))).toEqual(WRONG)
    expect(await sessionCount(viewer.userId)).toBe(1)
    expect(await desk.identifyViewer(visitor.request)).toEqual(viewer)
  })
})

describe('a disabled person', () => {
  test('a disabled person loses open sessions and cannot sign in; the reason is shown only after the right password', async () => {
    const { visitor, viewer, email } = await signUpSomebody(desk)
    const { sql } = desk.parts.database
    await sql`UPDATE users SET disabled_at = now() WHERE id = ${viewer.userId}`
    expect(await desk.identifyViewer(visitor.request)).toBeUndefined()
    expect(await refusalOf(signIn(desk.parts, visitorWith(), { email, password: 'wrong' }))).toEqual(WRONG)
    expect(await refusalOf(signIn(desk.parts, visitorWith(), { email, password: PASSWORD }))).toEqual({
      ...{ kind: 'forbidden', code: 'user_disabled' },
    })
    expect(await sessionCount(viewer.userId)).toBe(0)
    await sql`UPDATE users SET disabled_at = NULL WHERE id = ${viewer.userId}`
    expect((await signIn(desk.parts, visitorWith(), { email, password: PASSWORD })).body.status).toBe('signed_in')
  })
})

describe('a success', () => {
  test('a successful sign-in resets the count of guesses from its own address only', async () => {
    const { email } = await signUpSomebody(desk)
    const [home, elsewhere] = [newAddress(), newAddress()]
    const wrong = (address: string) =>
      refusalOf(signIn(desk.parts, visitorWith([], address), { email, password: 'wrong' }))
    await Promise.all(Array.from({ length: 10 }, () => wrong(elsewhere)))
    await Promise.all(Array.from({ length: 9 }, () => wrong(home)))
    await signIn(desk.parts, visitorWith([], home), { email, password: PASSWORD })
    expect(await wrong(home)).toEqual(WRONG)
    expect(await wrong(elsewhere)).toEqual(TOO_MANY)
  })

  test('a successful sign-in does not reset guesses at other people', async () => {
    const own = await signUpSomebody(desk)
    const { throttle } = desk.parts
    const address = newAddress()
    for (let guess = 0; guess < 99; guess++) await throttle.attempt(...signInsFrom(address))
    for (let time = 0; time < 3; time++) {
      await signIn(desk.parts, visitorWith([], address), { email: own.email, password: PASSWORD })
    }
    const spray = () =>
      refusalOf(
        signIn(desk.parts, visitorWith([], address), { email: `${crypto.randomUUID()}@example.test`, password: 'x' }),
      )
    expect(await spray()).toEqual(WRONG)
    expect(await spray()).toEqual(TOO_MANY)
  })

  test('after a person’s sign-in, strangers’ guesses still count, but do not delay this person', async () => {
    const { email } = await signUpSomebody(desk)
    const { throttle } = desk.parts
    for (let guess = 0; guess < STRANGERS - 1; guess++) await throttle.attempt(strangersAt(email))
    const home = newAddress()
    await signIn(desk.parts, visitorWith([], home), { email, password: PASSWORD })
    expect(await refusalOf(signIn(desk.parts, visitorWith(), { email, password: PASSWORD }))).toEqual(TOO_MANY)
    expect((await signIn(desk.parts, visitorWith([], home), { email, password: PASSWORD })).body.status).toBe(
      'signed_in',
    )
  })

  test('a person signs in with any letter case of the address', async () => {
    const { email, viewer } = await signUpSomebody(desk)
    const { cookies } = await signIn(desk.parts, visitorWith(), { email: email.toUpperCase(), password: PASSWORD })
    expect(await desk.identifyViewer(visitorWith(cookies).request)).toMatchObject({ userId: viewer.userId })
  })

  test('a successful sign-in deletes the person’s expired rows, and no others', async () => {
    const [ada, eve] = [await signUpSomebody(desk), await signUpSomebody(desk)]
    const { sql } = desk.parts.database
    await sql`UPDATE sessions SET expires_at = now() - interval '1 second' WHERE user_id IN ${sql([ada.viewer.userId, eve.viewer.userId])}`
    await signIn(desk.parts, visitorWith(), { email: ada.email, password: PASSWORD })
    expect(await sessionCount(ada.viewer.userId)).toBe(1)
    expect(await sessionCount(eve.viewer.userId)).toBe(1)
  })

  test('a sign-in ends the browser’s former session, also of another person', async () => {
    const [ada, eve] = [await signUpSomebody(desk), await signUpSomebody(desk)]
    await signIn(desk.parts, ada.visitor, { email: eve.email, password: PASSWORD })
    expect(await sessionCount(ada.viewer.userId)).toBe(0)
    expect(await sessionCount(eve.viewer.userId)).toBe(2)
  })

  test('a sign-in of a person without an account fails, and leaves no session', async () => {
    const { viewer, email } = await signUpSomebody(desk)
    const { sql } = desk.parts.database
    // As if an operator had made the account for an address that nobody has proven.
    await sql`DELETE FROM sessions WHERE user_id = ${viewer.userId}`
    await sql`UPDATE users SET account_id = NULL, email_verified = false WHERE id = ${viewer.userId}`
    expect(await refusalOf(signIn(desk.parts, visitorWith(), { email, password: PASSWORD }))).toEqual({
      kind: 'forbidden',
      code: 'email_not_verified',
    })
    expect(await sessionCount(viewer.userId)).toBe(0)
  })
})

describe('a full hashing queue', () => {
  const BUSY = { kind: 'overloaded' }

  /** As 260 addresses do that guess at once, and again as soon as they are told something. */
  async function flooded(work: () => Promise<void>): Promise<void> {
    let isOver = false
    const guess = async () => {
      while (!isOver) await hashPassword('guess').catch(() => new Promise((resolve) => setImmediate(resolve)))
    }
    const guesses = Array.from({ length: 260 }, guess)
    await work().finally(() => {
      isOver = true
    })
    await Promise.all(guesses)
  }

  /** A place that has just become free may be anybody's. */
  async function untilBusy(work: () => Promise<unknown>): Promise<void> {
    await until(async () => Bun.deepEquals(await work(), BUSY), 'strangers to be told to come again')
  }

  test('while strangers fill the hashing queue, only known people sign in', async () => {
    const ada = await signUpSomebody(desk)
    const credentials = { email: ada.email, password: PASSWORD }
    const [home, elsewhere] = [visitorWith([], ada.visitor.address), visitorWith(deviceOf(ada.visitor))]
    await flooded(async () => {
      await untilBusy(() => refusalOf(signIn(desk.parts, visitorWith(), credentials)))
      expect(await refusalOf(signIn(desk.parts, home, credentials))).toBe('nothing was refused')
      expect(await refusalOf(signIn(desk.parts, elsewhere, credentials))).toBe('nothing was refused')
    })
  })

  test('a browser is known only for people who signed in with it, and gets no more guesses than others', async () => {
    const [ada, eve] = [await signUpSomebody(desk), await signUpSomebody(desk)]
    const guess = (email: string) =>
      refusalOf(signIn(desk.parts, visitorWith(deviceOf(eve.visitor)), { email, password: 'wrong' }))
    await flooded(() => untilBusy(() => guess(ada.email)))
    for (let time = 0; time < 10; time++) expect(await guess(eve.email)).toEqual(WRONG)
    expect(await guess(eve.email)).toEqual(TOO_MANY)
  })
})

/** The cookie of a browser without that of its session. */
function deviceOf({ request }: { request: Request }): string[] {
  return (request.headers.get('cookie') ?? '').split('; ').filter((cookie) => cookie.startsWith('gateway.device='))
}

describe('the second step', () => {
  test('a second factor is requested after the password; the password alone opens no session and reveals no address', async () => {
    const ada = await withTotp()
    const address = newAddress()
    const first = await signIn(desk.parts, visitorWith([], address), { email: ada.email, password: PASSWORD })
    expect(first.body).toEqual({ status: 'totp_required' })
    expect(await desk.identifyViewer(visitorWith(first.cookies).request)).toBeUndefined()
    const pair = `${address} ${ada.email}`
    expect(await desk.parts.throttle.isRemembered('known', pair)).toBe(false)
    const second = await finishSignIn(desk.parts, visitorWith(first.cookies, address), {
      kind: 'totp',
      code: totpCode(ada.secret, 1),
    })
    expect(await desk.identifyViewer(visitorWith(second.cookies).request)).toMatchObject({ userId: ada.userId })
    expect(await desk.parts.throttle.isRemembered('known', pair)).toBe(true)
  })

  test('a code that was just used opens no session', async () => {
    const ada = await withTotp()
    const code = totpCode(ada.secret, 1)
    const before = await sessionCount(ada.userId)
    const starts = await Promise.all(
      [1, 2, 3].map(() => signIn(desk.parts, visitorWith(), { email: ada.email, password: PASSWORD })),
    )
    const ends = await Promise.all(
      starts.map(({ cookies }) => refusalOf(finishSignIn(desk.parts, visitorWith(cookies), { kind: 'totp', code }))),
    )
    expect(ends.filter((end) => end === 'nothing was refused')).toHaveLength(1)
    expect(ends.filter((end) => end !== 'nothing was refused')).toEqual(
      Array(2).fill({ kind: 'invalid_request', code: 'wrong_code', param: 'code' }),
    )
    expect(await sessionCount(ada.userId)).toBe(before + 1)
  })
})

test('signing out ends only this session, and also works without a session', async () => {
  const ada = await signUpSomebody(desk)
  await signIn(desk.parts, visitorWith(), { email: ada.email, password: PASSWORD })
  await signOut(desk.parts, ada.visitor)
  expect(await sessionCount(ada.viewer.userId)).toBe(1)
  expect((await signOut(desk.parts, visitorWith())).body).toBeNull()
})

/** Somebody with an authenticator app. */
async function withTotp(): Promise<{ email: string; userId: string; secret: string }> {
  const { visitor, viewer, email } = await signUpSomebody(desk)
  const { secret } = await enableTotp(desk.parts, visitor, viewer, PASSWORD)
  await confirmTotp(desk.parts, visitor, viewer, totpCode(secret))
  return { email, userId: viewer.userId, secret }
}
