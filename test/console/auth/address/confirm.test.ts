/** Confirming a change of address: once, with the password; its effects, and the mails about it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PASSWORD, refusalOf, visitorWith } from '@test/console/auth/desk'
import { until } from '@test/support/until'
import { createUser } from '@/accounts/users'
import { confirmAddress } from '@/console/auth/address/confirm'
import { signIn } from '@/console/auth/sign-in'
import { createToken, readToken } from '@/console/auth/tokens'
import type { Visitor } from '@/console/auth/visitor'
import { freshEmail, type Office, openOffice } from './office'

const INVALID_LINK = { kind: 'invalid_request', code: 'invalid_link', param: 'token' }
const NOTHING = 'nothing was refused'

let office: Office

beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.close())

const confirm = (token: string, { visitor = visitorWith(), password = PASSWORD } = {}) =>
  confirmAddress(office.parts, visitor, { token, password })

const isSignedIn = async ({ request }: Visitor) => (await office.identifyViewer(request)) !== undefined

describe('confirming a change of address', () => {
  test('confirming a new address changes person, account and audit log, and mails the former address', async () => {
    const ada = await office.somebody()
    const { userId, ownAccountId } = ada.viewer
    const { email, token } = await office.ask(ada)
    await confirm(token)
    const { sql } = office.parts.database
    expect(await office.addressOf(userId)).toBe(email)
    expect([...(await sql`SELECT email FROM accounts WHERE id = ${ownAccountId}`)]).toEqual([{ email }])
    const entries = await sql`SELECT action, account_id, actor_email, details FROM audit_entries
      WHERE subject = ${userId} AND action NOT IN ('user.create', 'user.sign_in')`
    expect([...entries]).toEqual([
      {
        ...{ action: 'user.change_email', account_id: ownAccountId, actor_email: ada.email },
        details: { before: ada.email, after: email },
      },
    ])
    expect(await office.mailsTo(ada.email)).toEqual(['address_changed'])
    const undoing = await until(
      () => office.server.mails.find(({ to, text }) => to === ada.email && text.includes('undo-address#token=')),
      'the mail to the former address',
    )
    expect(undoing.text).toContain(`${email.slice(0, 1)}***@example.test`)
    expect(undoing.raw).not.toContain(email)
  })

  test('confirming a new address ends all other sessions and earlier links', async () => {
    const ada = await office.somebody()
    const { email, token } = await office.ask(ada)
    const { cookies } = await signIn(office.parts, visitorWith(), { email: ada.email, password: PASSWORD })
    const other = visitorWith(cookies)
    const reset = await createToken(office.parts, 'reset-password', ada.viewer.userId)
    await confirm(token, { visitor: ada.visitor })
    expect([await isSignedIn(ada.visitor), await isSignedIn(other)]).toEqual([true, false])
    expect(await readToken(office.parts, 'reset-password', reset)).toBeUndefined()
    const former = await refusalOf(signIn(office.parts, visitorWith(), { email: ada.email, password: PASSWORD }))
    expect(former).toMatchObject({ code: 'wrong_credentials' })
    expect((await signIn(office.parts, visitorWith(), { email, password: PASSWORD })).body.status).toBe('signed_in')
  })

  test('confirming a new address in another person’s browser keeps their session', async () => {
    const [ada, bob] = [await office.somebody(), await office.somebody()]
    await confirm((await office.ask(ada)).token, { visitor: bob.visitor })
    expect([await isSignedIn(ada.visitor), await isSignedIn(bob.visitor)]).toEqual([false, true])
  })

  test('confirming a new address leaves addresses of others alone, and alerts that were turned off stay off', async () => {
    const ada = await office.somebody()
    const { sql } = office.parts.database
    const other = freshEmail()
    const teams = { acct_team: ada.email, acct_client: ada.email, acct_other: other }
    for (const [id, email] of Object.entries(teams))
      await sql`INSERT INTO accounts (id, name, email, kind, company)
        VALUES (${id}, 'Team', ${email}, 'organisation', '{"name": "Team", "country": "DE"}')`
    await sql`INSERT INTO memberships (account_id, user_id, role) VALUES ('acct_team', ${ada.viewer.userId}, 'owner'),
      ('acct_other', ${ada.viewer.userId}, 'owner')`
    await sql`INSERT INTO alert_opt_outs (account_id, email, kind) VALUES ('acct_team', ${ada.email}, 'budget')`
    const { email } = await office.change(ada)
    const rows = await sql<{ id: string; email: string }[]>`
      SELECT id, email FROM accounts WHERE id IN ('acct_team', 'acct_client', 'acct_other') ORDER BY id`
    expect(rows.map((row) => [row.id, row.email])).toEqual([
      ['acct_client', ada.email],
      ['acct_other', other],
      ['acct_team', email],
    ])
    expect(await sql`SELECT FROM alert_opt_outs WHERE account_id = 'acct_team' AND email = ${email}`).toHaveLength(1)
  })

  test('confirming a new address needs the password, and guesses are limited; a wrong password keeps the link', async () => {
    const ada = await office.somebody()
    const { email, token } = await office.ask(ada)
    for (let guess = 0; guess < 9; guess++)
      expect(await refusalOf(confirm(token, { password: 'wrong' }))).toMatchObject({ code: 'wrong_password' })
    await confirm(token)
    expect(await office.addressOf(ada.viewer.userId)).toBe(email)
    const again = await office.ask({ ...ada, viewer: { ...ada.viewer, email } })
    for (let guess = 0; guess < 10; guess++) await refusalOf(confirm(again.token, { password: 'wrong' }))
    expect(await refusalOf(confirm(again.token))).toMatchObject({ code: 'too_many_attempts' })
  })

  test('used, old and unknown confirmation links, and links of disabled people, get the same refusal', async () => {
    const { sql } = office.parts.database
    const used = await office.ask(await office.somebody())
    await confirm(used.token)
    const ada = await office.somebody()
    const old = await office.ask(ada)
    await sql`UPDATE address_changes SET confirm_until = now() WHERE user_id = ${ada.viewer.userId}`
    for (const token of [used.token, old.token, 'x'.repeat(32), ''])
      expect(await refusalOf(confirm(token))).toEqual(INVALID_LINK)
    const eve = await office.somebody()
    const { token } = await office.ask(eve)
    await sql`UPDATE users SET disabled_at = now() WHERE id = ${eve.viewer.userId}`
    expect(await refusalOf(confirm(token))).toMatchObject({ code: 'user_disabled' })
    expect(await office.addressOf(eve.viewer.userId)).toBe(eve.email)
  })

  test('of two concurrent confirmations of an address change, one takes effect', async () => {
    const ada = await office.somebody()
    const { token } = await office.ask(ada)
    const outcomes = await Promise.all([1, 2, 3].map(() => refusalOf(confirm(token))))
    expect(outcomes.filter((outcome) => outcome === NOTHING)).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome !== NOTHING)).toEqual([INVALID_LINK, INVALID_LINK])
    expect(await office.mailsTo(ada.email)).toEqual(['address_changed'])
  })

  test('of several people who confirm one address at once, one gets it', async () => {
    const email = freshEmail()
    const people = await Promise.all([1, 2, 3].map(() => office.somebody()))
    const tokens: string[] = []
    for (const person of people) tokens.push((await office.ask(person, email)).token)
    expect(new Set(tokens).size).toBe(3)
    const outcomes = await Promise.all(tokens.map((token) => refusalOf(confirm(token))))
    expect(outcomes.filter((outcome) => outcome === NOTHING)).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome !== NOTHING)).toEqual(
      Array(2).fill({ kind: 'conflict', code: 'email_taken' }),
    )
    const addresses = await Promise.all(people.map(({ viewer }) => office.addressOf(viewer.userId)))
    expect(addresses.filter((address) => address === email)).toHaveLength(1)
  })

  test('confirming a new address fails if somebody signed up with it meanwhile', async () => {
    const ada = await office.somebody()
    const { email, token } = await office.ask(ada)
    await createUser(office.parts.database, { email, password: PASSWORD })
    expect(await refusalOf(confirm(token))).toEqual({ kind: 'conflict', code: 'email_taken' })
    expect(await office.addressOf(ada.viewer.userId)).toBe(ada.email)
  })
})
