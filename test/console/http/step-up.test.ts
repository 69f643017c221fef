/** An administrator needs an authenticator app, and a recent proof before moving money. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { cookieOf, type Person, personWith, signUpPerson } from '@test/support/person'
import { totpCode } from '@test/support/totp'
import { SESSION } from './support'

const ADMIN = '/dashboard/api/admin'
const REASON = 'a test of the door'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response() })
})
afterAll(() => gateway.stop())

type Refusal = { error: { code: string | null; message: string } }

/** Somebody with the role and a real authenticator app, and what the app shows. */
async function administrator(): Promise<{ person: Person; secret: string }> {
  const fresh = await signUpPerson(gateway, { role: 'admin', totp: 'unset' })
  const { password, email } = fresh
  const { secret } = (await fresh.json('POST', `${SESSION}/totp/enable`, { password })).body as { secret: string }
  // The code of the step before leaves that of now to the test; it is over where the step changes on its way.
  const confirm = () =>
    fresh.fetch(`${SESSION}/totp/confirm`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: totpCode(secret, -1) }),
    })
  const first = await confirm()
  const confirmed = first.ok ? first : await confirm()
  return { person: await personWith(gateway, cookieOf(confirmed), { email, password }), secret }
}

/** The last proof of every session of `person` becomes older. */
async function letTimePass({ viewer }: Person, minutes: number): Promise<void> {
  const { sql } = gateway.gateway.database
  await sql`UPDATE sessions SET proved_at = proved_at - make_interval(mins => ${minutes}) WHERE user_id = ${viewer.userId}`
}

async function adjust(person: Person, usd = '1'): Promise<{ status: number; code: string | null | undefined }> {
  const { accountId } = await gateway.customer('0')
  const body = { amount: usd, allowNegative: false, reason: REASON, key: crypto.randomUUID() }
  const answer = await person.json('POST', `${ADMIN}/accounts/${accountId}/adjustments`, body)
  return { status: answer.status, code: (answer.body as Partial<Refusal>).error?.code }
}

describe('an administrator without an authenticator app', () => {
  test('an administrator without an app gets no administration page, and a hint how to set up an app', async () => {
    const person = await signUpPerson(gateway, { role: 'admin', totp: 'unset' })
    for (const path of ['/orders', '/accounts', '/approvals', '/payments', '/health', '/audit', '/audit/chain']) {
      const { status, body } = await person.json('GET', `${ADMIN}${path}`)
      expect({ path, status, code: (body as Refusal).error.code }).toEqual({
        path,
        status: 403,
        code: 'totp_setup_required',
      })
    }
    expect(await adjust(person)).toEqual({ status: 403, code: 'totp_setup_required' })
  })

  test('an administrator sets up the app at the first sign-in, and has the role from then on', async () => {
    const { person } = await administrator()
    expect((await person.json('GET', `${ADMIN}/orders`)).status).toBe(200)
    expect(await adjust(person)).toMatchObject({ status: 200 })
  })

  test('removing the app ends the administrator’s role', async () => {
    const { person, secret } = await administrator()
    const removed = await person.fetch(`${SESSION}/totp/disable`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ password: person.password, code: totpCode(secret, 1) }),
    })
    const now = await personWith(gateway, cookieOf(removed), person)
    expect((await now.json('GET', `${ADMIN}/orders`)).status).toBe(403)
  })
})

describe('moving money', () => {
  test('a proof lasts five minutes; it is a code, which works once, or the password', async () => {
    const { person, secret } = await administrator()
    expect(await adjust(person)).toMatchObject({ status: 200 })
    await letTimePass(person, 4)
    expect(await adjust(person)).toMatchObject({ status: 200 })
    await letTimePass(person, 2)
    expect(await adjust(person)).toEqual({ status: 403, code: 'step_up_required' })
    const code = totpCode(secret)
    expect((await person.json('POST', `${SESSION}/step-up`, { code })).status).toBe(200)
    expect(await adjust(person)).toMatchObject({ status: 200 })
    await letTimePass(person, 6)
    const again = await person.json('POST', `${SESSION}/step-up`, { code })
    expect((again.body as Refusal).error.code).toBe('wrong_code')
    expect(await adjust(person)).toEqual({ status: 403, code: 'step_up_required' })
    expect((await person.json('POST', `${SESSION}/step-up`, { password: person.password })).status).toBe(200)
    expect(await adjust(person)).toMatchObject({ status: 200 })
  })

  test('after ten wrong proofs the right one is refused', async () => {
    const { person } = await administrator()
    await letTimePass(person, 6)
    for (let guess = 0; guess < 10; guess++) {
      const wrong = await person.json('POST', `${SESSION}/step-up`, { password: `guess ${guess}` })
      expect((wrong.body as Refusal).error.code).toBe('wrong_password')
    }
    const right = await person.json('POST', `${SESSION}/step-up`, { password: person.password })
    expect(right.status).toBe(429)
    expect(await adjust(person)).toEqual({ status: 403, code: 'step_up_required' })
  })

  test('a proof in one browser does not count in another browser', async () => {
    const { person } = await administrator()
    const { sql } = gateway.gateway.database
    await letTimePass(person, 6)
    await sql`INSERT INTO sessions (id, token, user_id, expires_at)
      VALUES (${`sess_${crypto.randomUUID()}`}, ${crypto.randomUUID()}, ${person.viewer.userId}, now() + interval '1 day')`
    expect(await adjust(person)).toEqual({ status: 403, code: 'step_up_required' })
  })

  test('a proof gives a member no administration rights', async () => {
    const member = await signUpPerson(gateway)
    expect((await member.json('POST', `${SESSION}/step-up`, { password: member.password })).status).toBe(200)
    expect((await member.json('POST', `${SESSION}/step-up`, { code: '123456' })).status).toBe(409)
    expect((await adjust(member)).status).toBe(404)
  })
})

describe('the audit log', () => {
  test('the audit log has the request id of the answer, and every sign-in', async () => {
    const { person } = await administrator()
    const { accountId } = await gateway.customer('0')
    const body = { amount: '1', allowNegative: false, reason: REASON, key: crypto.randomUUID() }
    const answer = await person.json('POST', `${ADMIN}/accounts/${accountId}/adjustments`, body)
    await person.json('POST', `${SESSION}/step-up`, { password: person.password })
    const { sql } = gateway.gateway.database
    const [entry] = await sql`SELECT request_id, ip FROM audit_entries WHERE account_id = ${accountId}
      AND action = 'credit.adjust'`
    const requestId = answer.headers.get('x-request-id')
    expect(requestId).toMatch(/^req_[0-9a-f]{32}$/)
    expect(entry).toEqual({ request_id: requestId, ip: '127.0.0.1' })
    const own = await sql<{ action: string; request_id: string | null }[]>`
      SELECT action, request_id FROM audit_entries WHERE subject = ${person.viewer.userId} ORDER BY seq`
    expect(own.map((row) => row.action)).toEqual(['user.sign_up', 'user.enable_totp', 'user.step_up'])
    for (const row of own) expect(row.request_id).toMatch(/^req_[0-9a-f]{32}$/)
  })
})
