/** Changing and resetting a password: what is required and audited, and which sessions continue. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectAtLeast } from '@test/support/at-least'
import { until } from '@test/support/until'
import { changePassword, forgotPassword, resetPassword } from '@/console/auth/password-reset'
import { signIn } from '@/console/auth/sign-in'
import { createToken, readToken } from '@/console/auth/tokens'
import { type Desk, newAddress, openDesk, PASSWORD, refusalOf, signUpSomebody, visitorWith } from './desk'

const NEW_PASSWORD = 'another horse, another battery'
const TOO_MANY = { kind: 'rate_limited', code: 'too_many_attempts' }
const INVALID_LINK = { kind: 'invalid_request', code: 'invalid_link', param: 'token' }
const ANSWER_MS = 300

let desk: Desk

beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

/** Signs in from an address of its own. */
function tryPassword(email: string, password: string) {
  return signIn(desk.parts, visitorWith(), { email, password })
}

async function actionsOf(userId: string): Promise<string[]> {
  const rows = await desk.parts.database.sql<{ action: string }[]>`
    SELECT action FROM audit_entries WHERE subject = ${userId} AND action NOT LIKE 'user.sign%' ORDER BY seq`
  return rows.map((row) => row.action)
}

/** How many links to choose a new password the log holds for an address. */
function linksFor(email: string): number {
  return desk.logLines.filter((line) => line.includes('reset-password#token=') && line.includes(email)).length
}

describe('changing the password', () => {
  test('a password change names the faulty field: a weak new one before a wrong old one', async () => {
    const { visitor, viewer } = await signUpSomebody(desk, 'Ada Lovelace')
    const change = (currentPassword: string, newPassword: string) =>
      refusalOf(changePassword(desk.parts, visitor, viewer, { currentPassword, newPassword }))
    const weak = { kind: 'invalid_request', code: 'weak_password', param: 'newPassword' }
    const wrong = { kind: 'invalid_request', code: 'wrong_password', param: 'currentPassword' }
    expect(await change('wrong', NEW_PASSWORD)).toEqual(wrong)
    expect(await change(PASSWORD, 'Ada Lovelace')).toEqual(weak)
    expect(await change('wrong', viewer.email)).toEqual(weak)
    expect(await actionsOf(viewer.userId)).toEqual([])
  })

  test('guesses at the old password in a password change are limited; the right one resets the count', async () => {
    const { visitor, viewer } = await signUpSomebody(desk)
    const change = (currentPassword: string) =>
      changePassword(desk.parts, visitor, viewer, { currentPassword, newPassword: NEW_PASSWORD })
    for (let guess = 0; guess < 9; guess++) await refusalOf(change('wrong'))
    const { cookies } = await change(PASSWORD)
    const renewed = visitorWith(cookies, visitor.address)
    const again = (currentPassword: string) =>
      refusalOf(changePassword(desk.parts, renewed, viewer, { currentPassword, newPassword: PASSWORD }))
    for (let guess = 0; guess < 10; guess++) expect(await again('wrong')).toMatchObject({ code: 'wrong_password' })
    expect(await again(NEW_PASSWORD)).toEqual(TOO_MANY)
  })

  test('a password change has an audit entry', async () => {
    const { visitor, viewer } = await signUpSomebody(desk)
    await changePassword(desk.parts, visitor, viewer, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD })
    expect(await actionsOf(viewer.userId)).toEqual(['user.change_password'])
  })
})

describe('a forgotten password', () => {
  test('a reset request for an unknown address has the same answer and answer time as for a known one', async () => {
    const { email } = await signUpSomebody(desk)
    for (const name of ['nobody@example.test', email.toUpperCase()]) {
      const ask = () => forgotPassword(desk.parts, visitorWith(), name)
      expect(await expectAtLeast(ANSWER_MS, ask)).toBeUndefined()
    }
    await until(() => linksFor(email) === 1)
    expect(linksFor('nobody@example.test')).toBe(0)
  })

  test('reset mails to one person are limited, over all requesting addresses', async () => {
    const { email } = await signUpSomebody(desk)
    const ask = () => refusalOf(forgotPassword(desk.parts, visitorWith(), email))
    const outcomes = await Promise.all(Array.from({ length: 12 }, ask))
    expect(outcomes.filter((outcome) => outcome === 'nothing was refused')).toHaveLength(10)
    expect(outcomes.filter((outcome) => outcome !== 'nothing was refused')).toEqual(Array(2).fill(TOO_MANY))
    await until(() => linksFor(email) === 10, 'ten mails')
  })

  test('requests of strangers do not stop the owner’s own reset mail', async () => {
    const { email, visitor } = await signUpSomebody(desk)
    const strangers = Array.from({ length: 12 }, () => refusalOf(forgotPassword(desk.parts, visitorWith(), email)))
    expect((await Promise.all(strangers)).filter((outcome) => outcome !== 'nothing was refused')).toHaveLength(2)
    expect(await refusalOf(forgotPassword(desk.parts, visitor, email))).toBe('nothing was refused')
  })

  test('one requesting address gets five reset mails for a person; other addresses have their own limit', async () => {
    const { email } = await signUpSomebody(desk)
    const stranger = newAddress()
    const ask = (address: string) => refusalOf(forgotPassword(desk.parts, visitorWith([], address), email))
    const outcomes = await Promise.all(Array.from({ length: 7 }, () => ask(stranger)))
    expect(outcomes.filter((outcome) => outcome === 'nothing was refused')).toHaveLength(5)
    expect(await ask(newAddress())).toBe('nothing was refused')
  })

  test('without mail, a reset request is refused before it is counted or looked up', async () => {
    const { email } = await signUpSomebody(desk)
    const address = newAddress()
    const noMail = { ...desk.parts, mails: undefined }
    for (let time = 0; time < 25; time++) {
      expect(await refusalOf(forgotPassword(noMail, visitorWith([], address), email))).toEqual({
        kind: 'forbidden',
        code: 'mail_not_configured',
      })
    }
    await forgotPassword(desk.parts, visitorWith([], address), email)
  })
})

describe('a reset', () => {
  test('a reset gives the person the account that was created for their proven address, without signing in', async () => {
    const { viewer } = await signUpSomebody(desk)
    const { sql } = desk.parts.database
    await sql`UPDATE users SET account_id = NULL WHERE id = ${viewer.userId}`
    const token = await createToken(desk.parts, 'reset-password', viewer.userId)
    await resetPassword(desk.parts, visitorWith(), { token, newPassword: NEW_PASSWORD })
    expect(await sql`SELECT account_id FROM users WHERE id = ${viewer.userId}`).toMatchObject([
      { account_id: viewer.ownAccountId },
    ])
  })

  test('a reset proves the address, is audited, and the next sign-in from there is not delayed by guessers', async () => {
    const { viewer, email } = await signUpSomebody(desk)
    const address = newAddress()
    const token = await createToken(desk.parts, 'reset-password', viewer.userId)
    await resetPassword(desk.parts, visitorWith([], address), { token, newPassword: NEW_PASSWORD })
    const [user] = await desk.parts.database.sql`SELECT email_verified FROM users WHERE id = ${viewer.userId}`
    expect(user?.email_verified).toBe(true)
    expect(await actionsOf(viewer.userId)).toEqual(['user.reset_password'])
    expect(await desk.parts.throttle.isRemembered('known', `${address} ${email}`)).toBe(true)
  })

  test('a reset needs a token of an existing person, and tokens cannot be guessed', async () => {
    const { viewer } = await signUpSomebody(desk)
    const address = newAddress()
    const reset = (token: string) =>
      refusalOf(resetPassword(desk.parts, visitorWith([], address), { token, newPassword: NEW_PASSWORD }))
    const other = await createToken(desk.parts, 'verify-email', viewer.userId)
    const gone = await createToken(desk.parts, 'reset-password', 'user_gone')
    for (const token of [other, gone]) expect(await reset(token)).toEqual(INVALID_LINK)
    for (let guess = 0; guess < 28; guess++) expect(await reset(`made up ${guess}`)).toEqual(INVALID_LINK)
    expect(await reset(await createToken(desk.parts, 'reset-password', viewer.userId))).toEqual(TOO_MANY)
  })
})

describe('a new password and other links', () => {
  test('setting a password by one reset link voids other reset links', async () => {
    const { viewer, email } = await signUpSomebody(desk)
    const links = await Promise.all([1, 2, 3].map(() => createToken(desk.parts, 'reset-password', viewer.userId)))
    const [used = '', ...others] = links
    await resetPassword(desk.parts, visitorWith(), { token: used, newPassword: NEW_PASSWORD })
    for (const token of [used, ...others]) {
      const again = resetPassword(desk.parts, visitorWith(), { token, newPassword: 'a third horse altogether' })
      expect(await refusalOf(again)).toEqual(INVALID_LINK)
    }
    expect((await tryPassword(email, NEW_PASSWORD)).body.status).toBe('signed_in')
  })

  test('a password change voids the person’s reset links, but not other people’s', async () => {
    const { visitor, viewer } = await signUpSomebody(desk)
    const other = await signUpSomebody(desk)
    const token = await createToken(desk.parts, 'reset-password', viewer.userId)
    const foreign = await createToken(desk.parts, 'reset-password', other.viewer.userId)
    await changePassword(desk.parts, visitor, viewer, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD })
    expect(await readToken(desk.parts, 'reset-password', token)).toBeUndefined()
    expect(await readToken(desk.parts, 'reset-password', foreign)).toBe(other.viewer.userId)
  })
})
