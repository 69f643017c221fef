/** The routes of alerts: what each role sees and changes, and turning a kind off without signing in. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import { type JsonAnswer, type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { writeMails } from '@/accounts/mails/outbox'

const PATH = '/dashboard/api/a/:accountId/alerts'
let gateway: TestGateway
let owner: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
  owner = await signUpPerson(gateway)
})
afterAll(() => gateway.stop())

function refusal({ status, body }: JsonAnswer): string {
  const { code, param } = (body as { error: { code: string | null; param: string | null } }).error
  return `${status} ${code ?? ''} ${param ?? ''}`
}

describe('alerts of an account', () => {
  test('an account has default alert thresholds', async () => {
    expect((await owner.json('GET', PATH)).body).toEqual({
      ...{ isMailPossible: true, email: owner.email, getsAll: true },
      own: { balance: true, budget: true, spend: true, key_expiry: true },
      scheduled: {
        ...{ digest_weekly: false, digest_monthly: false },
        ...{ export_daily: false, export_weekly: false, export_monthly: false },
      },
      account: { firstUsd: '10', secondUsd: '2', addresses: [] },
    })
  })

  test('alert settings are changed field by field, and an error names its field', async () => {
    const account = { firstUsd: '25.5', secondUsd: null, addresses: [] }
    expect((await owner.json('PATCH', PATH, { firstUsd: '25.5', secondUsd: null })).body).toMatchObject({ account })
    expect((await owner.json('PATCH', PATH, { secondUsd: '3' })).body).toMatchObject({
      account: { ...account, secondUsd: '3' },
    })
    for (const [body, field] of [
      [{ firstUsd: '0' }, 'firstUsd'],
      [{ firstUsd: 'NaN' }, 'firstUsd'],
      [{ secondUsd: '-1' }, 'secondUsd'],
      [{ secondUsd: '25.5' }, 'secondUsd'],
    ] as const)
      expect(refusal(await owner.json('PATCH', PATH, body))).toMatch(new RegExp(`^400 .*${field}`))
  })

  test('developers can only choose their own alerts', async () => {
    const { accountId } = owner.viewer
    const developer = await signUpPerson(gateway)
    await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
      VALUES (${accountId}, ${developer.viewer.userId}, 'developer')`
    const path = `/dashboard/api/a/${accountId}/alerts`
    expect((await developer.json('GET', path)).body).toMatchObject({ account: null, getsAll: false })
    expect((await developer.json('PATCH', path, { firstUsd: '1' })).status).toBe(403)
    const off = await developer.json('PUT', `${path}/own`, { kind: 'budget', isWanted: false })
    expect(off.body).toMatchObject({ own: { budget: false, key_expiry: true } })
    expect((await owner.json('GET', PATH)).body).toMatchObject({ own: { budget: true } })
    expect((await developer.json('PUT', `${path}/own`, { kind: 'password_changed', isWanted: false })).status).toBe(400)
  })
})

describe('turning off an alert by its mail', () => {
  let server: MailServer
  let mailing: TestGateway

  beforeAll(async () => {
    server = await startMailServer()
    const environment = { SMTP_URL: server.url, MAIL_FROM: 'svc@example.test', PUBLIC_URL: 'http://gateway.test/base' }
    mailing = await startGateway({ respond: () => new Response('{}'), environment })
  })
  afterAll(async () => {
    await mailing.stop()
    await server.stop()
  })

  test('an alert’s link asks before it turns the alert off, a mail program’s button does so at once (RFC 8058); opening the link does not', async () => {
    const { accountId } = await mailing.customer('1')
    const { db, sql } = mailing.gateway.database
    const to = 'team@example.test'
    await sql`INSERT INTO alert_addresses (account_id, email, confirmed_at) VALUES (${accountId}, ${to}, now())`
    await writeMails(db, { kind: 'balance_empty', facts: { accountId, accountName: 'Ada' } }, [to])
    await until(() => server.mails.length === 1, 'the mail')
    const { raw, text } = server.mails[0] ?? { raw: '', text: '' }
    const header = raw.replace(/\n[ \t]+/g, ' ')
    expect(header).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
    const link =
      /^List-Unsubscribe:\s*<http:\/\/gateway\.test\/base(\/mail\/unsubscribe\?token=[\w-]+)>/m.exec(header)?.[1] ?? ''
    expect(text).toContain(link)
    const off = () => sql`SELECT kind FROM alert_opt_outs WHERE account_id = ${accountId} AND email = ${to}`
    const page = await fetch(mailing.url + link)
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('<form method="post">')
    expect(await off()).toHaveLength(0)
    for (let time = 0; time < 2; time++) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const answer = await fetch(mailing.url + link, {
        method: 'POST',
        headers,
        body: 'List-Unsubscribe=One-Click',
        redirect: 'error',
      })
      expect(answer.status).toBe(200)
    }
    expect(await off()).toMatchObject([{ kind: 'balance' }])
    expect((await fetch(`${mailing.url}/mail/unsubscribe?token=made-up`, { method: 'POST' })).status).toBe(404)
  })

  test('a mail that cannot be turned off has no header for turning it off', async () => {
    await writeMails(mailing.gateway.database.db, { kind: 'address_in_use', facts: {} }, ['ada@example.test'])
    await until(() => server.mails.some((mail) => mail.to === 'ada@example.test'), 'the mail')
    expect(server.mails.at(-1)?.raw).not.toMatch(/unsubscribe/i)
  })
})
