/** The second factor of sign-in: set-up, request, single use, limits, and removal. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { errorOf, post, SESSION } from '@test/console/http/support'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { cookieOf, type Person, personWith, signUpPerson } from '@test/support/person'
import { totpCode } from '@test/support/totp'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
})
afterAll(() => gateway.stop())

type Setup = { uri: string; secret: string; backupCodes: string[] }

async function withTotp(newcomer?: Person): Promise<{ person: Person; setup: Setup }> {
  const person = newcomer ?? (await signUpPerson(gateway))
  const { status, body } = await person.json('POST', `${SESSION}/totp/enable`, { password: person.password })
  expect(status).toBe(200)
  const setup = body as Setup
  const response = await person.fetch(`${SESSION}/totp/confirm`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: totpCode(setup.secret) }),
  })
  expect(response.status).toBe(200)
  return { person: await personWith(gateway, cookieOf(response), person), setup }
}

/** The first step: the cookie with which a code may follow. */
async function firstStep({ email, password }: Person): Promise<string> {
  const response = await post(gateway, '/sign-in', { email, password })
  expect(await response.json()).toEqual({ status: 'totp_required' })
  const cookie = cookieOf(response)
  expect(cookie).toContain('gateway.two_factor=')
  expect(cookie).not.toContain('session_token')
  return cookie
}

describe('an authenticator app', () => {
  test('an authenticator app is set up with password and first code, and its code is required afterwards', async () => {
    const { person, setup } = await withTotp()
    expect(setup.uri).toStartWith('otpauth://totp/svc:')
    expect(setup.backupCodes).toHaveLength(10)
    expect((await person.json('GET', `${SESSION}/me`)).body).toMatchObject({ isTotpEnabled: true })
    const cookie = await firstStep(person)
    // The next step's code, since the current one may have been used to confirm.
    const response = await post(gateway, '/sign-in/totp', { code: totpCode(setup.secret, 1) }, { cookie })
    expect(await response.json()).toEqual({ status: 'signed_in' })
    await personWith(gateway, cookieOf(response), person)
  })

  test('an authenticator app ends sessions opened without it', async () => {
    const newcomer = await signUpPerson(gateway)
    const signedIn = await post(gateway, '/sign-in', { email: newcomer.email, password: newcomer.password })
    const other = await personWith(gateway, cookieOf(signedIn), newcomer)
    const { person } = await withTotp(newcomer)
    expect((await other.json('GET', `${SESSION}/me`)).status).toBe(401)
    expect((await person.json('GET', `${SESSION}/me`)).status).toBe(200)
    const { body } = await person.json('GET', `${SESSION}/sessions`)
    expect((body as { items: unknown[] }).items).toHaveLength(1)
  })

  test('an authenticator app has no effect before its first code, and its set-up needs the password', async () => {
    const person = await signUpPerson(gateway)
    const refused = await person.json('POST', `${SESSION}/totp/enable`, { password: 'not it' })
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'wrong_password' } } })
    await person.json('POST', `${SESSION}/totp/enable`, { password: person.password })
    const wrong = await person.json('POST', `${SESSION}/totp/confirm`, { code: '000000' })
    expect(wrong).toMatchObject({ status: 400, body: { error: { code: 'wrong_code' } } })
    const signedIn = await post(gateway, '/sign-in', { email: person.email, password: person.password })
    expect(await signedIn.json()).toEqual({ status: 'signed_in' })
  })

  test('an authenticator app’s code opens one session only', async () => {
    const { person, setup } = await withTotp()
    const [first, second] = [await firstStep(person), await firstStep(person)]
    const code = totpCode(setup.secret, 1)
    expect((await post(gateway, '/sign-in/totp', { code }, { cookie: first })).status).toBe(200)
    const replayed = await post(gateway, '/sign-in/totp', { code }, { cookie: second })
    expect(replayed.headers.getSetCookie()).toEqual([])
    expect(await errorOf(replayed)).toMatchObject({ status: 400, code: 'wrong_code' })
  })

  test('after five wrong codes the password is needed again', async () => {
    const { person, setup } = await withTotp()
    const cookie = await firstStep(person)
    const wrong = totpCode(setup.secret, 100)
    for (let attempt = 0; attempt < 5; attempt++) {
      const response = await post(gateway, '/sign-in/totp', { code: wrong }, { cookie })
      expect(await errorOf(response)).toMatchObject({ status: 400, code: 'wrong_code' })
    }
    const right = await post(gateway, '/sign-in/totp', { code: totpCode(setup.secret, 1) }, { cookie })
    expect(await errorOf(right)).toMatchObject({ status: 401, code: 'sign_in_again' })
  })

  test('S20: a code of an authenticator app works only after its own password step', async () => {
    const { person, setup } = await withTotp()
    const code = totpCode(setup.secret, 1)
    expect(await errorOf(await post(gateway, '/sign-in/totp', { code }))).toMatchObject({ code: 'sign_in_again' })
    const asSession = await post(gateway, '/sign-in/totp', { code }, { cookie: person.cookie })
    expect(await errorOf(asSession)).toMatchObject({ status: 401, code: 'sign_in_again' })
  })

  test('each backup code works once in place of the app', async () => {
    const { person, setup } = await withTotp()
    const [code] = setup.backupCodes
    const opened = await post(gateway, '/sign-in/backup-code', { code }, { cookie: await firstStep(person) })
    expect(await opened.json()).toEqual({ status: 'signed_in' })
    const again = await post(gateway, '/sign-in/backup-code', { code }, { cookie: await firstStep(person) })
    expect(await errorOf(again)).toMatchObject({ status: 400, code: 'wrong_code' })
  })

  test('backup codes are void once new ones were made', async () => {
    const { person, setup } = await withTotp()
    const { body } = await person.json('POST', `${SESSION}/totp/backup-codes`, {
      password: person.password,
      code: setup.backupCodes[9],
    })
    const { backupCodes } = body as Pick<Setup, 'backupCodes'>
    const cookie = await firstStep(person)
    const old = await post(gateway, '/sign-in/backup-code', { code: setup.backupCodes[0] }, { cookie })
    expect(await errorOf(old)).toMatchObject({ code: 'wrong_code' })
    expect((await post(gateway, '/sign-in/backup-code', { code: backupCodes[0] }, { cookie })).status).toBe(200)
  })

  test('removing the app needs password and code', async () => {
    const { person, setup } = await withTotp()
    const disable = (body: object) => person.json('POST', `${SESSION}/totp/disable`, body)
    const [{ password }, [code]] = [person, setup.backupCodes]
    expect((await disable({ password })).status).toBe(400)
    expect(await disable({ password: 'not it', code })).toMatchObject({ body: { error: { code: 'wrong_password' } } })
    expect(await disable({ password, code: '000000' })).toMatchObject({ body: { error: { code: 'wrong_code' } } })
    expect((await disable({ password, code })).status).toBe(200)
    const signedIn = await post(gateway, '/sign-in', { email: person.email, password: person.password })
    expect(await signedIn.json()).toEqual({ status: 'signed_in' })
  })

  test('an authenticator app’s secret is stored encrypted', async () => {
    const { person, setup } = await withTotp()
    const [row] = await gateway.gateway.database.sql`SELECT * FROM two_factors WHERE user_id = ${person.viewer.userId}`
    const kept = JSON.stringify(row)
    expect(kept).not.toContain(setup.secret)
    expect(setup.backupCodes.filter((code) => kept.includes(code))).toEqual([])
  })
})
