/** Undoing a change of address: for seven days, once, also after later changes; nobody else can take the former address until then. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PASSWORD, refusalOf, visitorWith } from '@test/console/auth/desk'
import { until } from '@test/support/until'
import { insertAccount } from '@/accounts/accounts'
import { forgetChanges } from '@/accounts/email-addresses'
import { setEmail, upsertAdministrator } from '@/accounts/operator-access'
import { createUser } from '@/accounts/users'
import { askForAddress } from '@/console/auth/address/ask'
import { confirmAddress } from '@/console/auth/address/confirm'
import { undoAddress } from '@/console/auth/address/undo'
import { resetPassword } from '@/console/auth/password-reset'
import { signIn } from '@/console/auth/sign-in'
import { signUp } from '@/console/auth/sign-up'
import { freshEmail, type Office, openOffice, type Somebody } from './office'

const INVALID_LINK = { kind: 'invalid_request', code: 'invalid_link', param: 'token' }
const NOTHING = 'nothing was refused'
const NEW_PASSWORD = 'another horse, another battery'

let office: Office

beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.close())

const undo = (token: string) => undoAddress(office.parts, visitorWith(), token)
const confirm = (token: string) => confirmAddress(office.parts, visitorWith(), { token, password: PASSWORD })
const enter = (email: string, password: string) => signIn(office.parts, visitorWith(), { email, password })
/** The same person, who has another address by now. */
const at = (who: Somebody, email: string): Somebody => ({ ...who, viewer: { ...who.viewer, email } })

describe('undoing a change of address', () => {
  test('undo restores the former address without sign-in, ends sessions and password, and leads to a new password', async () => {
    const ada = await office.somebody()
    const { userId, ownAccountId } = ada.viewer
    const { email, undo: token } = await office.change(ada)
    const { cookies } = await enter(email, PASSWORD)
    const resetToken = await undo(token)
    const { sql } = office.parts.database
    expect(await office.addressOf(userId)).toBe(ada.email)
    expect([...(await sql`SELECT email FROM accounts WHERE id = ${ownAccountId}`)]).toEqual([{ email: ada.email }])
    expect(await office.identifyViewer(visitorWith(cookies).request)).toBeUndefined()
    expect(await refusalOf(enter(ada.email, PASSWORD))).toMatchObject({ code: 'wrong_credentials' })
    await resetPassword(office.parts, visitorWith(), { token: resetToken, newPassword: NEW_PASSWORD })
    expect((await enter(ada.email, NEW_PASSWORD)).body.status).toBe('signed_in')
    expect(await office.mailsTo(email)).toEqual(['confirm_address', 'address_put_back'])
    const [entry] =
      await sql`SELECT account_id, details FROM audit_entries WHERE action = 'user.undo_email' AND subject = ${userId}`
    expect(entry).toEqual({ account_id: ownAccountId, details: { before: email, after: ada.email } })
  })

  test('a used undo link, one older than seven days and an unknown one get the same refusal', async () => {
    const { sql } = office.parts.database
    const used = await office.change(await office.somebody())
    await undo(used.undo)
    const ada = await office.somebody()
    const late = await office.change(ada)
    const [row] = await sql<{ days: number }[]>`
      SELECT extract(epoch FROM undo_until - confirmed_at) / 86400 AS days FROM address_changes WHERE user_id = ${ada.viewer.userId}`
    expect(Number(row?.days)).toBeCloseTo(7, 2)
    await sql`UPDATE address_changes SET undo_until = now() WHERE user_id = ${ada.viewer.userId}`
    for (const token of [used.undo, late.undo, 'x'.repeat(32), ''])
      expect(await refusalOf(undo(token))).toEqual(INVALID_LINK)
    expect(await office.addressOf(ada.viewer.userId)).toBe(late.email)
  })

  test('undo works after a second change, whose own confirmation link becomes void', async () => {
    const ada = await office.somebody()
    const first = await office.change(ada)
    const second = await office.change(ada)
    expect(await office.addressOf(ada.viewer.userId)).toBe(second.email)
    await undo(first.undo)
    expect(await office.addressOf(ada.viewer.userId)).toBe(ada.email)
    expect(await refusalOf(undo(second.undo))).toEqual(INVALID_LINK)
  })

  test('if the later of two changes is undone, the earlier one can still be undone', async () => {
    const ada = await office.somebody()
    const first = await office.change(ada)
    const second = await office.change(ada)
    await undo(second.undo)
    expect(await office.addressOf(ada.viewer.userId)).toBe(first.email)
    await undo(first.undo)
    expect(await office.addressOf(ada.viewer.userId)).toBe(ada.email)
  })

  test('if undo and confirmation of an address change are concurrent, the former address is restored', async () => {
    const ada = await office.somebody()
    const first = await office.change(ada)
    const next = await office.ask(at(ada, first.email))
    const outcomes = await Promise.all([refusalOf(undo(first.undo)), refusalOf(confirm(next.token))])
    expect(outcomes[0]).toBe(NOTHING)
    expect(await office.addressOf(ada.viewer.userId)).toBe(ada.email)
    expect(await refusalOf(confirm(next.token))).toEqual(INVALID_LINK)
  })

  test('of two concurrent undos of an address change, one takes effect', async () => {
    const { undo: token } = await office.change(await office.somebody())
    const outcomes = await Promise.all([1, 2, 3].map(() => refusalOf(undo(token))))
    expect(outcomes.filter((outcome) => outcome === NOTHING)).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome !== NOTHING)).toEqual([INVALID_LINK, INVALID_LINK])
  })

  test('a change back to a former address cannot be undone', async () => {
    const ada = await office.somebody()
    const away = await office.change(ada)
    const back = await office.ask(at(ada, away.email), ada.email)
    await confirm(back.token)
    expect(await office.addressOf(ada.viewer.userId)).toBe(ada.email)
    expect(await office.mailsTo(away.email)).toEqual(['confirm_address', 'address_changed'])
    const mail = await until(
      () => office.server.mails.find(({ to, text }) => to === away.email && text.includes('your former address')),
      'the mail to the address that was left',
    )
    expect(mail.text).not.toContain('undo-address')
    expect(await refusalOf(undo(away.undo))).toEqual(INVALID_LINK)
  })

  test('an undo link is void once the operator has set the person’s address', async () => {
    const ada = await office.somebody()
    const { email, undo: token } = await office.change(ada)
    const given = freshEmail()
    expect(await setEmail(office.parts.database, email, given)).toBe('done')
    expect(await refusalOf(undo(token))).toEqual(INVALID_LINK)
    expect(await office.addressOf(ada.viewer.userId)).toBe(given)
  })
})

describe('the former address for seven days', () => {
  test('for seven days nobody else can take the former address: by sign-up, change, or operator', async () => {
    const { parts } = office
    const ada = await office.somebody()
    const change = await office.change(ada)
    const newcomer = { name: 'Eve', email: ada.email, password: PASSWORD }
    expect((await signUp(parts, visitorWith(), newcomer)).body).toEqual({ status: 'verification_sent' })
    const eve = await office.somebody()
    await askForAddress(parts, eve.visitor, eve.viewer, { email: ada.email, password: PASSWORD })
    expect(await office.mailsTo(ada.email)).toEqual(['address_changed', 'address_in_use', 'address_in_use'])
    expect(await createUser(parts.database, { email: ada.email, password: PASSWORD })).toEqual({ kind: 'email_taken' })
    expect(await insertAccount(parts.database.db, { email: ada.email.toUpperCase(), name: 'Eve' })).toBeUndefined()
    expect(await setEmail(parts.database, eve.email, ada.email)).toBe('email_taken')
    const open = { ...parts, requiresVerification: false }
    expect(await refusalOf(signUp(open, visitorWith(), newcomer))).toMatchObject({ code: 'email_taken' })
    expect(await parts.database.sql`SELECT FROM users WHERE email = ${ada.email}`).toHaveLength(0)
    await undo(change.undo)
    expect(await office.addressOf(ada.viewer.userId)).toBe(ada.email)
  })

  test('for seven days a concurrent sign-up does not get the former address', async () => {
    const { database } = office.parts
    const ada = await office.somebody()
    const { userId } = ada.viewer
    const email = freshEmail()
    const isWaiting = async () =>
      (await database.sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
        .length > 0
    const made = await database.sql.begin(async (leaving) => {
      await leaving`UPDATE users SET email = ${email} WHERE id = ${userId}`
      const taken = createUser(database, { email: ada.email, password: PASSWORD })
      await until(isWaiting, 'who signs up to wait for who leaves')
      await leaving`INSERT INTO address_changes (id, user_id, new_email, confirm_hash, confirm_until, confirmed_at,
          old_email, undo_hash, undo_until)
        VALUES (${email}, ${userId}, ${email}, ${email}, now(), now(), ${ada.email}, ${email}, now() + interval '1 hour')`
      // In an array, or the transaction would wait for it.
      return [taken]
    })
    expect(await made[0]).toEqual({ kind: 'email_taken' })
  })

  test('after seven days anybody can take the former address', async () => {
    const { sql } = office.parts.database
    const ada = await office.somebody()
    await office.change(ada)
    await sql`UPDATE address_changes SET undo_until = now() WHERE user_id = ${ada.viewer.userId}`
    const made = await createUser(office.parts.database, { email: ada.email, password: PASSWORD })
    expect(made.kind).toBe('created')
  })

  test('an administrator’s address from the settings is taken at once, and the change cannot be undone', async () => {
    const ada = await office.somebody()
    const { undo: token } = await office.change(ada)
    await upsertAdministrator(office.parts.database, ada.email, PASSWORD)
    expect(await office.parts.database.sql`SELECT role FROM users WHERE email = ${ada.email}`).toMatchObject([
      { role: 'admin' },
    ])
    expect(await refusalOf(undo(token))).toEqual(INVALID_LINK)
  })
})

test('requested address changes are deleted once they can neither be confirmed nor undone', async () => {
  const { database } = office.parts
  const [open, late, undone, lapsed] = await Promise.all([1, 2, 3, 4].map(() => office.somebody()))
  if (!open || !late || !undone || !lapsed) throw new Error('nobody is there')
  await Promise.all([office.change(open), office.change(late), office.ask(lapsed)])
  await undo((await office.change(undone)).undo)
  await office.ask(open)
  const ids = [open, late, undone, lapsed].map(({ viewer }) => viewer.userId)
  await database.sql`UPDATE address_changes SET undo_until = now() WHERE user_id = ${late.viewer.userId}`
  await database.sql`UPDATE address_changes SET confirm_until = now() WHERE user_id = ${lapsed.viewer.userId}`
  await forgetChanges(database)
  const left = await database.sql`SELECT user_id FROM address_changes WHERE user_id IN ${database.sql(ids)}`
  expect(left.map(({ user_id: userId }) => userId)).toEqual([open.viewer.userId, open.viewer.userId])
})
