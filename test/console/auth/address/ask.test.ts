/** Requesting a change of address: what it needs, that nothing changes yet, and that nobody learns whether an address is in use. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PASSWORD, refusalOf, visitorWith } from '@test/console/auth/desk'
import { expectAtLeast } from '@test/support/at-least'
import { totpCode } from '@test/support/totp'
import { askAgain, askForAddress, cancelChange, readPending } from '@/console/auth/address/ask'
import { confirmAddress } from '@/console/auth/address/confirm'
import { changePassword } from '@/console/auth/password-reset'
import { signIn } from '@/console/auth/sign-in'
import { confirmTotp, enableTotp } from '@/console/auth/totp/second-factor'
import { freshEmail, type Office, openOffice, type Somebody } from './office'

const TOO_MANY = { kind: 'rate_limited', code: 'too_many_attempts' }
const INVALID_LINK = { kind: 'invalid_request', code: 'invalid_link', param: 'token' }
const NOTHING = 'nothing was refused'
const ANSWER_MS = 300

let office: Office

beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.close())

const ask = ({ visitor, viewer }: Somebody, email: string, password = PASSWORD, code?: string) =>
  askForAddress(office.parts, visitor, viewer, { email, password, ...(code !== undefined && { code }) })

const confirm = (token: string) => confirmAddress(office.parts, visitorWith(), { token, password: PASSWORD })

describe('requesting a change of address', () => {
  test('a change of address needs the password, and a new address that can sign in', async () => {
    const ada = await office.somebody()
    const email = freshEmail()
    const wrong = { kind: 'invalid_request', code: 'wrong_password', param: 'password' }
    expect(await refusalOf(ask(ada, email, 'wrong'))).toEqual(wrong)
    const same = { kind: 'conflict', code: 'same_address', param: 'email' }
    expect(await refusalOf(ask(ada, ada.email.toUpperCase()))).toEqual(same)
    const invalid = { kind: 'invalid_request', code: 'invalid_email', param: 'email' }
    expect(await refusalOf(ask(ada, 'ada@localhost'))).toEqual(invalid)
    expect(await readPending(office.parts, ada.viewer)).toBeUndefined()
    expect(await office.mailsTo(email)).toEqual([])
  })

  test('a change of address accepts the addresses that sign-in accepts', async () => {
    const people = [await office.somebody(), await office.somebody()] as const
    const addresses = [
      'a@b.co',
      "o'neil+x_y-z@mail.example.test",
      'a.b.c@ex-ample.test',
      '.a@example.test',
      'a..b@example.test',
      'a.@example.test',
      'a@-example.test',
      'a@example',
      'a@example.t1',
      'a b@example.test',
      'ü@example.test',
      'a@exämple.test',
      '"a"@example.test',
      'a@b@example.test',
      'a#b@example.test',
      "'@example.test",
    ]
    const isRefused = (outcome: unknown) => JSON.stringify(outcome).includes('invalid_email')
    // Ten wrong passwords of one person would be too many.
    const outcomes = addresses.map(async (email, index) => {
      const bySignIn = await refusalOf(signIn(office.parts, visitorWith(), { email, password: PASSWORD }))
      const byChange = await refusalOf(ask(people[index < 8 ? 0 : 1], email, 'wrong'))
      return [email, isRefused(bySignIn), isRefused(byChange)]
    })
    const told = await Promise.all(outcomes)
    expect(told.map(([email, , byChange]) => [email, byChange])).toEqual(
      told.map(([email, bySignIn]) => [email, bySignIn]),
    )
    expect(new Set(told.map(([, bySignIn]) => bySignIn)).size).toBe(2)
  })

  test('a change of address needs a code if sign-in needs one, and each code works once', async () => {
    const ada = await office.somebody()
    const { secret, backupCodes } = await enableTotp(office.parts, ada.visitor, ada.viewer, PASSWORD)
    const { cookies } = await confirmTotp(office.parts, ada.visitor, ada.viewer, totpCode(secret))
    const visitor = visitorWith(cookies, ada.visitor.address)
    const viewer = await office.identifyViewer(visitor.request)
    if (!viewer) throw new Error('the session was not replaced')
    const proven = { ...ada, visitor, viewer }
    const wrongCode = { kind: 'invalid_request', code: 'wrong_code', param: 'code' }
    expect(await refusalOf(ask(proven, freshEmail()))).toEqual(wrongCode)
    expect(await refusalOf(ask(proven, freshEmail(), PASSWORD, '000000'))).toEqual(wrongCode)
    const code = totpCode(secret, 1)
    expect(await refusalOf(ask(proven, freshEmail(), PASSWORD, code))).toBe(NOTHING)
    expect(await refusalOf(ask(proven, freshEmail(), PASSWORD, code))).toEqual(wrongCode)
    expect(await refusalOf(ask(proven, freshEmail(), PASSWORD, backupCodes[0]))).toBe(NOTHING)
  })

  test('password guesses by requests for a change of address are limited', async () => {
    const ada = await office.somebody()
    for (let guess = 0; guess < 10; guess++) await refusalOf(ask(ada, freshEmail(), 'wrong'))
    expect(await refusalOf(ask(ada, freshEmail()))).toEqual(TOO_MANY)
  })

  test('a change of address has no effect before its link is used, and the link is stored as a hash', async () => {
    const ada = await office.somebody()
    const { email, token } = await office.ask(ada)
    expect(await office.addressOf(ada.viewer.userId)).toBe(ada.email)
    expect(await readPending(office.parts, ada.viewer)).toMatchObject({ email })
    const kept = JSON.stringify(await office.parts.database.sql`SELECT * FROM address_changes`)
    expect(kept).not.toContain(token)
    expect((await signIn(office.parts, visitorWith(), { email: ada.email, password: PASSWORD })).body.status).toBe(
      'signed_in',
    )
  })

  test('a change to an address in use gives the same answer in the same time, and mails the address’s owner', async () => {
    const [ada, bob] = [await office.somebody(), await office.somebody()]
    const free = freshEmail()
    for (const email of [free, bob.email.toUpperCase()]) {
      const answer = await expectAtLeast(ANSWER_MS, () => ask(ada, email))
      expect(answer).toEqual({ email: email.toLowerCase(), expiresAt: expect.any(Date) })
      expect(await readPending(office.parts, ada.viewer)).toEqual(answer)
    }
    expect(await office.mailsTo(free)).toEqual(['confirm_address'])
    expect(await office.mailsTo(bob.email)).toEqual(['address_in_use'])
  })

  test('an address of an operator’s account counts as in use', async () => {
    const ada = await office.somebody()
    const email = freshEmail()
    await office.parts.database.sql`INSERT INTO accounts (id, name, email) VALUES (${email}, 'Reserved', ${email})`
    await ask(ada, email)
    expect(await office.mailsTo(email)).toEqual(['address_in_use'])
  })

  test('a new request, a cancellation or a new password voids the former confirmation link', async () => {
    const ada = await office.somebody()
    const first = await office.ask(ada)
    await askAgain(office.parts, ada.visitor, ada.viewer)
    expect(await refusalOf(confirm(first.token))).toEqual(INVALID_LINK)
    const second = await office.ask(ada)
    const third = await office.ask(ada)
    expect(await refusalOf(confirm(second.token))).toEqual(INVALID_LINK)
    await cancelChange(office.parts, ada.viewer)
    expect(await readPending(office.parts, ada.viewer)).toBeUndefined()
    expect(await refusalOf(askAgain(office.parts, ada.visitor, ada.viewer))).toMatchObject({ code: 'none_pending' })
    expect(await refusalOf(confirm(third.token))).toEqual(INVALID_LINK)
    const fourth = await office.ask(ada)
    const input = { currentPassword: PASSWORD, newPassword: 'another horse, another battery' }
    await changePassword(office.parts, ada.visitor, ada.viewer, input)
    const late = confirmAddress(office.parts, visitorWith(), { token: fourth.token, password: input.newPassword })
    expect(await refusalOf(late)).toEqual(INVALID_LINK)
    expect(await office.addressOf(ada.viewer.userId)).toBe(ada.email)
  })

  test('two concurrent requests for a change of address leave one valid link', async () => {
    const ada = await office.somebody()
    const emails = [freshEmail(), freshEmail()]
    await Promise.all(emails.map((email) => ask(ada, email)))
    const tokens = await Promise.all(emails.map((email) => office.tokenTo(email, 'confirm-address')))
    const outcomes = [await refusalOf(confirm(tokens[0] ?? '')), await refusalOf(confirm(tokens[1] ?? ''))]
    expect(outcomes.filter((outcome) => outcome === NOTHING)).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome !== NOTHING)).toEqual([INVALID_LINK])
  })

  test('a person gets five confirmation links an hour, and a new address five from all requesters together', async () => {
    const ada = await office.somebody()
    for (let mail = 0; mail < 5; mail++) expect(await refusalOf(ask(ada, freshEmail()))).toBe(NOTHING)
    expect(await refusalOf(askAgain(office.parts, ada.visitor, ada.viewer))).toEqual(TOO_MANY)
    const email = freshEmail()
    for (let mail = 0; mail < 5; mail++) expect(await refusalOf(ask(await office.somebody(), email))).toBe(NOTHING)
    expect(await refusalOf(ask(await office.somebody(), email))).toEqual(TOO_MANY)
    expect(await office.mailsTo(email)).toHaveLength(5)
  })

  test('without mail a change of address is refused with the reason', async () => {
    const { visitor, viewer } = await office.somebody()
    const input = { email: freshEmail(), password: PASSWORD }
    const outcome = await refusalOf(askForAddress({ ...office.parts, mails: undefined }, visitor, viewer, input))
    expect(outcome).toEqual({ kind: 'forbidden', code: 'mail_not_configured' })
  })
})
