/** The settings of signing in: their defaults, and what is refused. */
import { describe, expect, test } from 'bun:test'
import { type Environment, loadConfig } from '@/config/config'

function faultsOf(environment: Environment): string[] {
  const result = loadConfig(environment)
  return result.kind === 'faulty' ? result.faults.map((fault) => `${fault.place}: ${fault.message}`) : []
}

const SECRET = 'canary-'.repeat(6)
const MAIL = { SMTP_URL: 'smtps://user:canary@host:465', MAIL_FROM: 'Gateway <mail@example.com>' }

describe('the settings of signing in', () => {
  test('are read from the environment', () => {
    const result = loadConfig({
      ...MAIL,
      SIGN_UP: 'closed',
      AUTH_SECRET: SECRET,
      SESSION_IDLE_SECONDS: '3600',
      SESSION_MAX_SECONDS: '86400',
      TRUSTED_PROXY_HOPS: '2',
    })
    expect(result.kind === 'loaded' && result.config.signIn).toEqual({
      signUp: 'closed',
      secret: SECRET,
      mail: { smtpUrl: MAIL.SMTP_URL, from: MAIL.MAIL_FROM },
      sessionIdleSeconds: 3600,
      sessionMaxSeconds: 86_400,
      trustedProxyHops: 2,
    })
  })

  test('in production, mail needs an address to build links from', () => {
    expect(faultsOf({ ...MAIL, NODE_ENV: 'production' })).toEqual([expect.stringContaining('PUBLIC_URL: is unset')])
    expect(faultsOf({ ...MAIL, NODE_ENV: 'production', PUBLIC_URL: 'https://host' })).toEqual([])
    expect(faultsOf({ NODE_ENV: 'production' })).toEqual([])
  })

  test('mail needs a sender, and a sender needs a server', () => {
    expect(faultsOf({ SMTP_URL: MAIL.SMTP_URL })).toEqual([expect.stringContaining('MAIL_FROM: is unset')])
    expect(faultsOf({ MAIL_FROM: MAIL.MAIL_FROM })).toEqual([expect.stringContaining('SMTP_URL: is unset')])
  })

  test.each([
    ['SIGN_UP', 'ajar'],
    ['AUTH_SECRET', 'too short'],
    ['AUTH_SECRET', `${SECRET} with spaces`],
    ['SESSION_IDLE_SECONDS', '0'],
    ['TRUSTED_PROXY_HOPS', '-1'],
  ])('refuse %s=%p', (name, value) => {
    expect(faultsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: expected `))])
  })

  test.each(['mail', 'Evil\r\nBcc: x@y <mail@example.com>', 'a <b@c> <d@e>'])('refuse the sender %p', (from) => {
    expect(faultsOf({ ...MAIL, MAIL_FROM: from })).toEqual([expect.stringContaining('MAIL_FROM: expected')])
  })

  test('never quote a secret', () => {
    expect(faultsOf({ AUTH_SECRET: 'canary', SMTP_URL: 'http://canary', MAIL_FROM: 'a@b' }).join()).not.toContain(
      'canary',
    )
  })
})
