/** Setting up and removing a second factor: what each change needs, which sessions it ends, and its audit entry. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Desk, openDesk, PASSWORD, refusalOf, signUpSomebody, visitorWith } from '@test/console/auth/desk'
import { totpCode } from '@test/support/totp'
import { finishSignIn, signIn } from '@/console/auth/sign-in'
import { confirmTotp, disableTotp, enableTotp, renewBackupCodes } from '@/console/auth/totp/second-factor'

const WRONG_PASSWORD = { kind: 'invalid_request', code: 'wrong_password', param: 'password' }
const TOO_MANY = { kind: 'rate_limited', code: 'too_many_attempts' }

let desk: Desk

beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

/** Somebody whose second step is in force, and what their browser sends since. */
async function withTotp() {
  const ada = await signUpSomebody(desk)
  const { secret, backupCodes } = await enableTotp(desk.parts, ada.visitor, ada.viewer, PASSWORD)
  const usedCode = totpCode(secret)
  const { cookies } = await confirmTotp(desk.parts, ada.visitor, ada.viewer, usedCode)
  const visitor = visitorWith(cookies, ada.visitor.address)
  const viewer = await desk.identifyViewer(visitor.request)
  if (!viewer) throw new Error('the session was not replaced')
  return { ...ada, visitor, viewer, before: ada.visitor, secret, usedCode, backupCodes }
}

async function actionsOf(userId: string): Promise<string[]> {
  const rows = await desk.parts.database.sql<{ action: string }[]>`
    SELECT action FROM audit_entries WHERE subject = ${userId} AND action NOT LIKE 'user.sign%' ORDER BY seq`
  return rows.map((row) => row.action)
}

async function mailsTo(email: string): Promise<number> {
  const rows = await desk.parts.database
    .sql`SELECT FROM mails WHERE recipient = ${email} AND kind = 'second_step_changed'`
  return rows.length
}

describe('setting it up', () => {
  test('setting up an app shows our name, the person and the secret', async () => {
    const { visitor, viewer, email } = await signUpSomebody(desk)
    const { uri, secret, backupCodes } = await enableTotp(desk.parts, visitor, viewer, PASSWORD)
    const parsed = new URL(uri)
    expect(parsed.protocol).toBe('otpauth:')
    expect(decodeURIComponent(parsed.pathname)).toContain(email)
    expect(parsed.searchParams.get('issuer')).toBe('svc')
    expect(parsed.searchParams.get('secret')).toBe(secret)
    expect(secret).toMatch(/^[A-Z2-7]{16,}$/)
    expect(new Set(backupCodes).size).toBe(10)
  })

  test('an unfinished set-up of an app has no effect and no audit entry, and can be repeated', async () => {
    const { visitor, viewer, email } = await signUpSomebody(desk)
    const first = await enableTotp(desk.parts, visitor, viewer, PASSWORD)
    const second = await enableTotp(desk.parts, visitor, viewer, PASSWORD)
    expect(second.secret).not.toBe(first.secret)
    expect((await signIn(desk.parts, visitorWith(), { email, password: PASSWORD })).body.status).toBe('signed_in')
    expect(await actionsOf(viewer.userId)).toEqual([])
    await confirmTotp(desk.parts, visitor, viewer, totpCode(second.secret))
    expect((await signIn(desk.parts, visitorWith(), { email, password: PASSWORD })).body.status).toBe('totp_required')
    expect(await actionsOf(viewer.userId)).toEqual(['user.enable_totp'])
  })
})

describe('a code works once', () => {
  const WRONG_CODE = { kind: 'invalid_request', code: 'wrong_code', param: 'code' }

  test('a code that was used for the set-up does not work for sign-in', async () => {
    const ada = await signUpSomebody(desk)
    const { secret } = await enableTotp(desk.parts, ada.visitor, ada.viewer, PASSWORD)
    const code = totpCode(secret)
    await confirmTotp(desk.parts, ada.visitor, ada.viewer, code)
    const first = await signIn(desk.parts, visitorWith(), ada)
    const browser = visitorWith(first.cookies)
    expect(await refusalOf(finishSignIn(desk.parts, browser, { kind: 'totp', code }))).toEqual(WRONG_CODE)
    const [count] = await desk.parts.database.sql`
      SELECT count(*)::int AS sessions FROM sessions WHERE user_id = ${ada.viewer.userId}`
    expect(count?.sessions).toBe(1)
  })

  test('of two concurrent set-ups with one code, one succeeds', async () => {
    const ada = await signUpSomebody(desk)
    const { secret } = await enableTotp(desk.parts, ada.visitor, ada.viewer, PASSWORD)
    const code = totpCode(secret)
    const confirm = () => refusalOf(confirmTotp(desk.parts, ada.visitor, ada.viewer, code))
    const outcomes = await Promise.all([confirm(), confirm()])
    expect(outcomes).toContainEqual(WRONG_CODE)
    expect(outcomes).toContainEqual('nothing was refused')
  })
})

describe('a stolen session', () => {
  test('password guesses on a session count together over all forms', async () => {
    const { visitor, viewer, backupCodes } = await withTotp()
    const code = backupCodes[0] as string
    const wrong = [
      () => refusalOf(enableTotp(desk.parts, visitor, viewer, 'wrong')),
      ...[disableTotp, renewBackupCodes].map(
        (change) => () => refusalOf(change(desk.parts, visitor, viewer, { password: 'wrong', code })),
      ),
    ]
    for (let guess = 0; guess < 10; guess++) expect(await wrong[guess % 3]?.()).toEqual(WRONG_PASSWORD)
    const right = { password: PASSWORD, code }
    expect(await refusalOf(renewBackupCodes(desk.parts, visitor, viewer, right))).toEqual(TOO_MANY)
  })

  test('with the password but no code, a session can neither remove the second factor nor make backup codes', async () => {
    const ada = await withTotp()
    const mailsBefore = await mailsTo(ada.email)
    for (const change of [disableTotp, renewBackupCodes]) {
      for (const code of ['000000', 'aaaaa-bbbbb', ada.usedCode]) {
        const work = change(desk.parts, ada.visitor, ada.viewer, { password: PASSWORD, code })
        expect(await refusalOf(work)).toEqual({ kind: 'invalid_request', code: 'wrong_code', param: 'code' })
      }
    }
    expect((await signIn(desk.parts, visitorWith(), ada)).body.status).toBe('totp_required')
    expect(await actionsOf(ada.viewer.userId)).toEqual(['user.enable_totp'])
    expect(await mailsTo(ada.email)).toBe(mailsBefore)
  })

  test('a right password resets the count of wrong ones', async () => {
    const { visitor, viewer, backupCodes } = await withTotp()
    const code = backupCodes[0] as string
    const guess = () => refusalOf(disableTotp(desk.parts, visitor, viewer, { password: 'wrong', code }))
    for (let time = 0; time < 9; time++) await guess()
    await renewBackupCodes(desk.parts, visitor, viewer, { password: PASSWORD, code })
    expect(await guess()).toEqual(WRONG_PASSWORD)
  })
})

describe('removing the second factor', () => {
  test('removing the second factor by a code replaces the session, has an audit entry and a mail', async () => {
    const ada = await withTotp()
    const proof = { password: PASSWORD, code: totpCode(ada.secret, 1) }
    const { cookies } = await disableTotp(desk.parts, ada.visitor, ada.viewer, proof)
    // The first told of the app that was set up.
    expect(await mailsTo(ada.email)).toBe(2)
    expect(await desk.identifyViewer(visitorWith(cookies).request)).toMatchObject({ userId: ada.viewer.userId })
    expect((await signIn(desk.parts, visitorWith(), ada)).body.status).toBe('signed_in')
    expect(await actionsOf(ada.viewer.userId)).toEqual(['user.enable_totp', 'user.disable_totp'])
  })
})

describe('backup codes', () => {
  test('backup codes are only made together with a second factor, and new codes replace all old ones', async () => {
    const ada = await withTotp()
    const proof = { password: PASSWORD, code: ada.backupCodes[3] as string }
    const renewed = await renewBackupCodes(desk.parts, ada.visitor, ada.viewer, proof)
    expect(await mailsTo(ada.email)).toBe(2)
    expect(await refusalOf(renewBackupCodes(desk.parts, ada.visitor, ada.viewer, proof))).toMatchObject({
      code: 'wrong_code',
    })
    expect(new Set([...renewed, ...ada.backupCodes]).size).toBe(20)
    expect(await actionsOf(ada.viewer.userId)).toEqual(['user.enable_totp', 'user.renew_backup_codes'])
    const eve = await signUpSomebody(desk)
    expect(await refusalOf(renewBackupCodes(desk.parts, eve.visitor, eve.viewer, proof))).toEqual({
      kind: 'conflict',
      code: 'totp_not_enabled',
    })
    expect(await actionsOf(eve.viewer.userId)).toEqual([])
  })
})
