/** Unusual input: whatever people type, or send twice at once, never gives an internal error. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { cookieOf, type Person, signUpPerson } from '@test/support/person'
import { totpCode } from '@test/support/totp'
import { errorOf, post, SESSION } from './support'

const NUL = String.fromCharCode(0)
const ODD_TEXTS = [
  NUL,
  `a${NUL}b`,
  '\ud800',
  'a\u202eb',
  '\u0007',
  'a\r\nb',
  '\ufffe',
  '$(jndi:ldap://x)',
  "'; DROP TABLE users; --",
  '%00',
  '__proto__',
]
const ODD_ADDRESSES = [
  ...ODD_TEXTS.map((text) => `${text}@example.test`),
  ...ODD_TEXTS.map((text) => `a@${text}.test`),
  'İ@example.test',
  'ß@example.test',
  'ä@exämple.test',
  '"a b"@example.test',
  'a@b@example.test',
  'a.@example.test',
  '.a@example.test',
  'a..b@example.test',
  'a@-example.test',
  'a@example..test',
  'a@[127.0.0.1]',
  'a@1.2.3.4',
  'a+b/c=d@example.test',
  "o'hara@example.test",
  'a,b@example.test',
  'a;b@example.test',
  'a<b>@example.test',
  '😀@example.test',
  'a@😀.test',
  'a@xn--.test',
  `${'a'.repeat(64)}@${'b'.repeat(63)}.test`,
  `a@${'b'.repeat(200)}.test`,
  'ﬀ'.repeat(30).concat('@example.test'),
  'A\u0301@example.test',
]

let gateway: TestGateway
let person: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response() })
  person = await signUpPerson(gateway)
})
afterAll(() => gateway.stop())
beforeEach(() => {
  gateway.logLines.length = 0
})

/** Sends a body whose texts JSON itself would not write. */
async function expectPlainAnswer(response: Response): Promise<void> {
  const text = await response.text()
  expect(response.status, text).toBeLessThan(500)
  expect(gateway.logLines.filter((line) => line.includes('unexpected_error'))).toEqual([])
}

describe('an unusual e-mail address', () => {
  test.each(ODD_ADDRESSES)('the address %j signs up, or is refused as invalid', async (email) => {
    const credentials = { email, password: 'a horse on a battery' }
    const answers = await Promise.all([
      post(gateway, '/sign-up', { ...credentials, name: 'Odd' }),
      post(gateway, '/sign-in', credentials),
      post(gateway, '/password/forgot', { email }),
      post(gateway, '/email/resend', { email }),
    ])
    for (const answer of answers) await expectPlainAnswer(answer)
  })
})

describe('an unusual text', () => {
  test.each(ODD_TEXTS)('%j as the name of a person or a key is stored or refused', async (name) => {
    const email = `${crypto.randomUUID()}@example.test`
    await expectPlainAnswer(await post(gateway, '/sign-up', { email, password: 'a horse on a battery', name }))
    expect((await person.json('PATCH', `${SESSION}/me`, { name })).status).toBeLessThan(500)
    expect((await person.json('POST', '/dashboard/api/a/:accountId/keys', { name })).status).toBeLessThan(500)
    expect(
      (await person.json('POST', '/dashboard/api/a/:accountId/keys', { name: 'k', allowedModels: [name] })).status,
    ).toBe(400)
    expect(gateway.logLines.filter((line) => line.includes('unexpected_error'))).toEqual([])
  })

  test.each(ODD_TEXTS)('%j in a path or a search gives an empty result', async (text) => {
    const query = encodeURIComponent(text.toWellFormed())
    for (const path of [
      `/dashboard/api/a/:accountId/keys/${query}`,
      `/dashboard/api/a/:accountId/usage?model=${query}`,
      `/dashboard/api/a/:accountId/usage?key=${query}`,
      `/dashboard/api/a/:accountId/usage/requests/${query}`,
      `/dashboard/api/a/:accountId/orders/${query}`,
    ]) {
      const { status, body } = await person.json('GET', path)
      expect(status, `${path} ${JSON.stringify(body)}`).toBeLessThan(500)
    }
    expect(gateway.logLines.filter((line) => line.includes('unexpected_error'))).toEqual([])
  })

  test('a NUL character anywhere in a body is refused with its field', async () => {
    const { status, body } = await person.json('POST', '/dashboard/api/a/:accountId/keys', { name: `a${NUL}b` })
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain('NUL')
  })
})

test('a backup code used twice at the same time opens one session', async () => {
  const somebody = await signUpPerson(gateway)
  const { password, email } = somebody
  const setup = (await somebody.json('POST', `${SESSION}/totp/enable`, { password })).body as {
    secret: string
    backupCodes: string[]
  }
  await somebody.json('POST', `${SESSION}/totp/confirm`, { code: totpCode(setup.secret) })
  const begin = async () => ({ cookie: cookieOf(await post(gateway, '/sign-in', { email, password })) })
  for (const code of setup.backupCodes.slice(0, 4)) {
    const browsers = [await begin(), await begin(), await begin()]
    const answers = await Promise.all(
      browsers.map((headers) => post(gateway, '/sign-in/backup-code', { code }, headers)),
    )
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(await errorOf(answer)).toEqual({ status: 400, code: 'wrong_code', param: 'code' })
    }
  }
  expect(gateway.logLines.filter((line) => line.includes('unexpected_error'))).toEqual([])
})
