/** Signing up and proving an address: this needs both the mail and the password. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectAtLeast } from '@test/support/at-least'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import { resendVerification, signUp, verifyEmail } from '@/console/auth/sign-up'
import { createToken, readToken } from '@/console/auth/tokens'
import { type Desk, newAddress, openDesk, PASSWORD, refusalOf, signUpSomebody, visitorWith } from './desk'

const TOO_MANY = { kind: 'rate_limited', code: 'too_many_attempts' }
const INVALID_LINK = { kind: 'invalid_request', code: 'invalid_link', param: 'token' }
const WRONG_PASSWORD = { kind: 'invalid_request', code: 'wrong_password', param: 'password' }
/** As long as every answer takes at least where addresses have to be verified. */
const ANSWER_MS = 300
const MAILS_TO_ONE = 10
const MAILS_FROM_ONE = 20

let mailServer: MailServer
/** Addresses have to be verified here … */
let desk: Desk
/** … and not here. */
let open: Desk

beforeAll(async () => {
  mailServer = await startMailServer()
  const mail = { smtpUrl: mailServer.url, from: 'svc@example.test' }
  ;[desk, open] = await Promise.all([openDesk(mail), openDesk()])
})
afterAll(() => Promise.all([desk.close(), open.close(), mailServer.stop()]))

type Row = { id: string; email: string; email_verified: boolean; account_id: string | null }

async function userOf({ parts }: Desk, email: string): Promise<Row | undefined> {
  const [row] = await parts.database.sql<Row[]>`SELECT * FROM users WHERE email = ${email}`
  return row
}

/** Signs up where the address has to be verified, and returns the address and the token of the mail. */
async function waitingPerson(password = PASSWORD): Promise<{ email: string; token: string }> {
  const email = `${crypto.randomUUID()}@example.test`
  await signUp(desk.parts, visitorWith(), { name: 'Ada', email, password })
  return { email, token: await mailServer.find(email, /verify-email#token=(\w+)/) }
}

describe('signing up', () => {
  test('sign-up stores the address in lower case, and ignores unknown fields', async () => {
    const name = `Ada ${crypto.randomUUID()}`
    const email = `${crypto.randomUUID()}@example.test`
    const more = { role: 'admin', accountId: 'acct_1', emailVerified: true, image: 'https://evil.example/a.png' }
    await signUp(open.parts, visitorWith(), { name, email: email.toUpperCase(), password: PASSWORD, ...more })
    expect(await userOf(open, email)).toMatchObject({ name, email, email_verified: false, role: 'member', image: null })
    expect((await userOf(open, email))?.account_id).not.toBe('acct_1')
  })

  test('a weak password is refused without counting an attempt', async () => {
    const address = newAddress()
    const weak = { name: 'Ada', email: 'ada@example.test', password: 'password123' }
    const refused = await Promise.all(
      Array.from({ length: 110 }, () => refusalOf(signUp(open.parts, visitorWith([], address), weak))),
    )
    expect(new Set(refused.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(refused[0]).toEqual({ kind: 'invalid_request', code: 'weak_password', param: 'password' })
  })

  test('sign-up has the same answer and time for new and used addresses', async () => {
    const { email } = await waitingPerson()
    for (const one of [email, `${crypto.randomUUID()}@example.test`]) {
      const ask = () => signUp(desk.parts, visitorWith(), { name: 'Eve', email: one, password: PASSWORD })
      expect(await expectAtLeast(ANSWER_MS, ask)).toEqual({ body: { status: 'verification_sent' }, cookies: [] })
    }
  })

  test('sign-ups with one address send a limited number of mails', async () => {
    const { email } = await waitingPerson()
    for (let mail = 2; mail <= MAILS_TO_ONE; mail++) {
      await signUp(desk.parts, visitorWith(), { name: 'Eve', email, password: PASSWORD })
    }
    expect(await refusalOf(signUp(desk.parts, visitorWith(), { name: 'Eve', email, password: PASSWORD }))).toEqual(
      TOO_MANY,
    )
    expect(await refusalOf(resendVerification(desk.parts, visitorWith(), email))).toEqual(TOO_MANY)
  })

  test('one requesting address sends a limited number of mails, to all recipients together', async () => {
    const address = newAddress()
    const signUpOne = () => {
      const email = `${crypto.randomUUID()}@example.test`
      return refusalOf(signUp(desk.parts, visitorWith([], address), { name: 'Eve', email, password: PASSWORD }))
    }
    const outcomes = await Promise.all(Array.from({ length: MAILS_FROM_ONE + 2 }, signUpOne))
    expect(outcomes.filter((outcome) => outcome !== 'nothing was refused')).toEqual(Array(2).fill(TOO_MANY))
  })
})

describe('proving an address', () => {
  test('guessing a password by confirmation links is limited, over all requesting addresses', async () => {
    const { token } = await waitingPerson()
    const guess = () => refusalOf(verifyEmail(desk.parts, visitorWith(), { token, password: 'wrong' }))
    expect(await Promise.all(Array.from({ length: 10 }, guess))).toEqual(Array(10).fill(WRONG_PASSWORD))
    expect(await guess()).toEqual(TOO_MANY)
  })

  test('a confirmation needs a token of an existing person', async () => {
    const { email } = await waitingPerson()
    const user = await userOf(desk, email)
    const other = await createToken(desk.parts, 'reset-password', user?.id ?? '')
    const gone = await createToken(desk.parts, 'verify-email', 'user_gone')
    for (const token of [other, gone, 'made up']) {
      expect(await refusalOf(verifyEmail(desk.parts, visitorWith(), { token, password: PASSWORD }))).toEqual(
        INVALID_LINK,
      )
    }
  })

  test('a confirmation has an audit entry with the client address', async () => {
    const { email, token } = await waitingPerson()
    const address = newAddress()
    await verifyEmail(desk.parts, visitorWith([], address), { token, password: PASSWORD })
    const user = await userOf(desk, email)
    const entries = await desk.parts.database.sql`SELECT * FROM audit_entries
      WHERE subject = ${user?.id ?? ''} AND action NOT LIKE 'user.sign%'`
    expect(entries).toMatchObject([
      { action: 'user.verify_email', actor_id: user?.id, actor_email: email, ip: address, details: {} },
    ])
  })
})

describe('requesting the confirmation mail again', () => {
  test('the confirmation mail is only resent to people who wait for it; the answer takes the same time for all', async () => {
    const waiting = await waitingPerson()
    const done = await waitingPerson()
    await verifyEmail(desk.parts, visitorWith(), { token: done.token, password: PASSWORD })
    for (const email of [done.email, 'nobody@example.test', waiting.email.toUpperCase()]) {
      await expectAtLeast(ANSWER_MS, () => resendVerification(desk.parts, visitorWith(), email))
    }
    const second = await mailServer.find(waiting.email, new RegExp(`verify-email#token=((?!${waiting.token})\\w+)`))
    expect(await readToken(desk.parts, 'verify-email', second)).toBeDefined()
    expect(mailServer.mails.filter((mail) => mail.to === done.email)).toHaveLength(1)
    expect(mailServer.mails.filter((mail) => mail.to === 'nobody@example.test')).toEqual([])
  })
})

test('without confirmation of the address, a sign-up does not get the account that an operator created for it', async () => {
  const { sql } = open.parts.database
  const email = `${crypto.randomUUID()}@example.test`
  await sql`INSERT INTO accounts (id, name, email) VALUES (${`acct_${crypto.randomUUID()}`}, 'Reserved', ${email})`
  const noMail = { ...open.parts, mails: undefined }
  const person = { name: 'Eve', email, password: PASSWORD }
  expect(await refusalOf(signUp(noMail, visitorWith(), person))).toEqual({
    kind: 'conflict',
    code: 'email_taken',
    param: 'email',
  })
  expect(await userOf(open, email)).toBeUndefined()
  const { body, cookies } = await signUp(open.parts, visitorWith(), person)
  expect([body, cookies]).toEqual([{ status: 'verification_sent' }, []])
  expect((await userOf(open, email))?.account_id).toBeNull()
})

test('signing up makes the client address known, so strangers’ guesses cannot lock the person out', async () => {
  const { visitor, email } = await signUpSomebody(open)
  expect(await open.parts.throttle.isRemembered('known', `${visitor.address} ${email}`)).toBe(true)
})
