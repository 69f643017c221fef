/** Security mails about a person's sign-in, written in the same step as the change; nobody can turn them off. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { resetTotp, setPassword } from '@/accounts/operator-access'
import { changePassword, resetPassword } from '@/console/auth/password-reset'
import { signIn } from '@/console/auth/sign-in'
import { createToken } from '@/console/auth/tokens'
import { type Desk, openDesk, PASSWORD, refusalOf, signUpSomebody, visitorWith } from './desk'

const NEW_PASSWORD = 'another horse, another battery'
let desk: Desk

beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

async function mailsTo(email: string): Promise<string[]> {
  const rows = await desk.parts.database.sql<{ kind: string }[]>`
    SELECT kind FROM mails WHERE recipient = ${email} ORDER BY created_at`
  return rows.map(({ kind }) => kind)
}

test('a sign-in from a new browser is mailed, a sign-in from a known browser is not', async () => {
  const { email, visitor } = await signUpSomebody(desk)
  expect(await mailsTo(email)).toEqual([])
  const again = await signIn(desk.parts, visitor, { email, password: PASSWORD })
  expect(again.body.status).toBe('signed_in')
  expect(await mailsTo(email)).toEqual([])
  const { cookies } = await signIn(desk.parts, visitorWith([], visitor.address), { email, password: PASSWORD })
  expect(await mailsTo(email)).toEqual(['new_sign_in'])
  await signIn(desk.parts, visitorWith(cookies), { email, password: PASSWORD })
  expect(await mailsTo(email)).toEqual(['new_sign_in'])
  await refusalOf(signIn(desk.parts, visitorWith(), { email, password: 'a wrong one' }))
  expect(await mailsTo(email)).toEqual(['new_sign_in'])
})

test('a person whose password was set gets a mail, whoever set it', async () => {
  const { email, visitor, viewer } = await signUpSomebody(desk)
  const change = (currentPassword: string) =>
    changePassword(desk.parts, visitor, viewer, { currentPassword, newPassword: NEW_PASSWORD })
  await refusalOf(change('wrong'))
  expect(await mailsTo(email)).toEqual([])
  await change(PASSWORD)
  expect(await mailsTo(email)).toEqual(['password_changed'])
  const token = await createToken(desk.parts, 'reset-password', viewer.userId)
  await resetPassword(desk.parts, visitorWith(), { token, newPassword: PASSWORD })
  await setPassword(desk.parts.database, email, NEW_PASSWORD)
  expect(await mailsTo(email)).toEqual(['password_changed', 'password_changed', 'password_changed'])
})

test('if an operator removes a person’s second factor, the person gets a mail', async () => {
  const { email } = await signUpSomebody(desk)
  await resetTotp(desk.parts.database, email)
  expect(await mailsTo(email)).toEqual(['second_step_changed'])
})
