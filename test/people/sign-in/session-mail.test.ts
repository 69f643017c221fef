/** Sign-in with mail: nobody gets in before their address is confirmed, and no answer reveals who has signed up. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { errorOf, post, SESSION } from '@test/console/http/support'
import { expectAtLeast } from '@test/support/at-least'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import { cookieOf, personWith } from '@test/support/person'
import { createUser } from '@/accounts/users'

const PUBLIC_URL = 'https://gateway.example.test/base'
const ORIGIN = { origin: 'https://gateway.example.test' }
const VERIFY = /gateway\.example\.test\/base\/dashboard\/verify-email#token=(\w+)/
const RESET = /gateway\.example\.test\/base\/dashboard\/reset-password#token=(\w+)/

let mailServer: MailServer
let gateway: TestGateway

beforeAll(async () => {
  mailServer = await startMailServer()
  gateway = await startGateway({
    respond: () => new Response('{}'),
    environment: {
      NODE_ENV: 'production',
      PUBLIC_URL,
      TRUSTED_PROXY_HOPS: '0',
      SMTP_URL: mailServer.url,
      MAIL_FROM: 'The Gateway <mail@gateway.example.test>',
      AUTH_SECRET: 'a secret of the environment, of forty characters'.replaceAll(' ', '-'),
    },
  })
})
afterAll(async () => {
  await gateway.stop()
  await mailServer.stop()
})

function send(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return post(gateway, path, body, { ...ORIGIN, ...headers })
}

const person = (name: string) => ({ email: `${name}@example.test`, password: `the password of ${name}` })

describe('signing up', () => {
  test('sign-up needs the mailed link and then the password: the mail alone opens no session', async () => {
    const ada = person('ada')
    const signedUp = await send('/sign-up', { ...ada, name: 'Ada' })
    expect(await signedUp.json()).toEqual({ status: 'verification_sent' })
    expect(signedUp.headers.getSetCookie()).toEqual([])
    expect(await errorOf(await send('/sign-in', ada))).toMatchObject({ status: 403, code: 'email_not_verified' })
    const token = await mailServer.find(ada.email, VERIFY)
    const wrong = await send('/email/verify', { token, password: 'a guess of a stranger' })
    expect(await errorOf(wrong)).toMatchObject({ status: 400, code: 'wrong_password' })
    const verified = await send('/email/verify', { token, password: ada.password })
    expect(await verified.json()).toEqual({ status: 'signed_in' })
    const cookie = cookieOf(verified)
    expect(cookie).toStartWith('__Host-gateway.session_token=')
    const { viewer } = await personWith(gateway, cookie, ada)
    expect(viewer.accountId).toMatch(/^acct_/)
  })

  test('a person with an unconfirmed address has no account', async () => {
    const bob = person('bob')
    await send('/sign-up', { ...bob, name: 'Bob' })
    const rows = await gateway.gateway.database.sql`SELECT 1 FROM accounts WHERE email = ${bob.email}`
    expect(rows).toHaveLength(0)
  })

  test('sign-up with an address in use gives the same answer, mails its owner, and does not change the password', async () => {
    const [owner, newcomer] = [person('owner'), person('newcomer')]
    await createUser(gateway.gateway.database, owner)
    const ask = async (email: string) => {
      const stranger = { email, password: 'what a stranger chose', name: 'Stranger' }
      const response = await expectAtLeast(300, () => send('/sign-up', stranger))
      return { status: response.status, body: await response.text(), cookies: response.headers.getSetCookie() }
    }
    const known = await ask(owner.email)
    expect(known).toEqual(await ask(newcomer.email))
    expect(known).toEqual({ status: 200, body: '{"status":"verification_sent"}', cookies: [] })
    await mailServer.find(owner.email, RESET)
    expect(mailServer.mails.find((mail) => mail.to === owner.email)?.text).toContain('You have an account already')
    expect((await send('/sign-in', owner)).status).toBe(200)
    expect((await send('/sign-in', { ...owner, password: 'what a stranger chose' })).status).toBe(401)
  })

  test('if a stranger signed up with my address, my password reset voids their password', async () => {
    const victim = person('victim')
    await send('/sign-up', { email: victim.email, password: 'chosen by the stranger', name: 'Stranger' })
    await send('/password/forgot', { email: victim.email })
    const token = await mailServer.find(victim.email, RESET)
    expect((await send('/password/reset', { token, newPassword: victim.password })).status).toBe(200)
    expect((await send('/sign-in', victim)).status).toBe(200)
    expect((await send('/sign-in', { ...victim, password: 'chosen by the stranger' })).status).toBe(401)
  })
})

describe('mails', () => {
  test('mailed links use PUBLIC_URL, whatever the Host header', async () => {
    const carol = person('carol')
    await createUser(gateway.gateway.database, carol)
    const response = await send('/password/forgot', { email: carol.email }, { host: 'evil.example' })
    expect(response.status).toBe(200)
    await mailServer.find(carol.email, RESET)
    const mail = mailServer.mails.find(({ to }) => to === carol.email)
    expect(mail?.text).not.toContain('evil.example')
    expect(mail?.from).toBe('mail@gateway.example.test')
  })

  test('a confirmation mail is only resent to people who wait for it; all get the same answer', async () => {
    const dave = person('dave')
    await send('/sign-up', { ...dave, name: 'Dave' })
    const first = await mailServer.find(dave.email, VERIFY)
    const answers = [dave.email, 'nobody@example.test'].map(async (email) => {
      const response = await send('/email/resend', { email })
      return `${response.status} ${await response.text()}`
    })
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['200 {"done":true}']))
    const sent = () => mailServer.mails.filter(({ to }) => to === dave.email).length
    await mailServer.find(dave.email, new RegExp(`token=(?!${first})(\\w+)`))
    expect(sent()).toBe(2)
    expect(mailServer.mails.some(({ to }) => to === 'nobody@example.test')).toBe(false)
  })

  test('mails, passwords and cookies are not logged', async () => {
    const erin = person('erin')
    await send('/sign-up', { ...erin, name: 'Erin' })
    const token = await mailServer.find(erin.email, VERIFY)
    const verified = await send('/email/verify', { token, password: erin.password })
    const log = gateway.logLines.join('')
    for (const secret of [token, erin.password, cookieOf(verified).split('=')[1] ?? 'no cookie']) {
      expect(log).not.toContain(secret)
    }
  })

  test('an unreachable mail server does not delay anything else', async () => {
    const frank = person('frank')
    const away = await startGateway({
      respond: () => new Response('{}'),
      environment: { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'mail@example.test' },
    })
    try {
      await createUser(away.gateway.database, frank)
      expect((await post(away, '/password/forgot', { email: frank.email })).status).toBe(200)
      expect((await post(away, '/sign-in', frank)).status).toBe(200)
    } finally {
      await away.stop()
    }
  })
})

describe('AUTH_SECRET in the environment', () => {
  test('AUTH_SECRET signs the cookies: other cookies are invalid', async () => {
    const grace = person('grace')
    await createUser(gateway.gateway.database, grace)
    const { databaseUrl } = gateway.stores
    const other = await startGateway({ respond: () => new Response('{}'), databaseUrl })
    try {
      const response = await post(other, '/sign-in', grace)
      const cookie = cookieOf(response).replace('gateway.', '__Host-gateway.')
      const me = await fetch(`${gateway.url}${SESSION}/me`, { headers: { cookie } })
      expect(me.status).toBe(401)
    } finally {
      await other.stop()
    }
  })
})
