/** The settings of sign-in: defaults, and refused values. */
import { describe, expect, test } from 'bun:test'
import { loadConfig } from '@/config/config'
import { faultsOf } from './read-settings'

const SECRET = 'canary-'.repeat(6)
const MAIL = { SMTP_URL: 'smtps://user:canary@host:465', MAIL_FROM: 'Gateway <mail@example.com>' }

describe('the settings of signing in', () => {
  test('settings of sign-in are read from the environment', () => {
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
      secrets: [SECRET],
      mail: { smtpUrl: MAIL.SMTP_URL, from: MAIL.MAIL_FROM },
      sessionIdleSeconds: 3600,
      sessionMaxSeconds: 86_400,
      trustedProxyHops: 2,
    })
  })

  test('in production, mail needs PUBLIC_URL for its links', () => {
    const production = { NODE_ENV: 'production', AUTH_SECRET: SECRET }
    expect(faultsOf({ ...MAIL, ...production })).toEqual([expect.stringContaining('PUBLIC_URL: is unset')])
    expect(faultsOf({ ...MAIL, ...production, PUBLIC_URL: 'http://host' })).toEqual([])
    expect(faultsOf(production)).toEqual([])
  })

  test('production refuses to use the AUTH_SECRET in the database, which lies beside the data that it protects', () => {
    for (const secret of [undefined, '', 'too short']) {
      expect(faultsOf({ NODE_ENV: 'production', AUTH_SECRET: secret })).toContainEqual(
        expect.stringContaining('AUTH_SECRET: is unset'),
      )
    }
    expect(loadConfig({ NODE_ENV: 'production' }, { isCommand: true }).kind).toBe('loaded')
  })

  test.each(['password', 'Password1', 'administrator', '12345678', 'admin@example.test', 'abcabcabc'])(
    'production refuses an administrator with the password %p',
    (password) => {
      const administrator = { ADMIN_EMAIL: 'admin@example.test', ADMIN_PASSWORD: password }
      const faults = faultsOf({ ...administrator, NODE_ENV: 'production', AUTH_SECRET: SECRET })
      expect(faults).toEqual([expect.stringContaining('ADMIN_PASSWORD: is among the first guesses')])
      expect(faultsOf(administrator)).toEqual([])
    },
  )

  test('all settings missing in production are reported together', () => {
    const environment = { NODE_ENV: 'production', ADMIN_EMAIL: 'a@example.test', ADMIN_PASSWORD: 'password', PORT: 'x' }
    expect(faultsOf(environment).map((fault) => fault.split(':')[0])).toEqual(['PORT', 'AUTH_SECRET', 'ADMIN_PASSWORD'])
  })

  test('production behind TLS needs TRUSTED_PROXY_HOPS', () => {
    const behind = { NODE_ENV: 'production', AUTH_SECRET: SECRET, PUBLIC_URL: 'https://host' }
    expect(faultsOf(behind)).toEqual([expect.stringContaining('TRUSTED_PROXY_HOPS: is unset')])
    expect(faultsOf({ ...behind, TRUSTED_PROXY_HOPS: '' })).toHaveLength(1)
    expect(faultsOf({ ...behind, TRUSTED_PROXY_HOPS: '1' })).toEqual([])
    expect(faultsOf({ ...behind, TRUSTED_PROXY_HOPS: '0' })).toEqual([])
    expect(faultsOf({ PUBLIC_URL: 'https://host' })).toEqual([])
    expect(loadConfig(behind, { isCommand: true }).kind).toBe('loaded')
  })

  test('the settings of mail need both a sender and a server', () => {
    expect(faultsOf({ SMTP_URL: MAIL.SMTP_URL })).toEqual([expect.stringContaining('MAIL_FROM: is unset')])
    expect(faultsOf({ MAIL_FROM: MAIL.MAIL_FROM })).toEqual([expect.stringContaining('SMTP_URL: is unset')])
  })

  test('AUTH_SECRET takes several secrets, the current one first', () => {
    const result = loadConfig({ AUTH_SECRET: `${SECRET} ${'former-'.repeat(6)}` })
    expect(result.kind === 'loaded' && result.config.signIn.secrets).toEqual([SECRET, 'former-'.repeat(6)])
  })

  test.each([
    ['SIGN_UP', 'ajar'],
    ['AUTH_SECRET', 'too short'],
    ['AUTH_SECRET', `${SECRET} with spaces`],
    ['AUTH_SECRET', `${SECRET}  ${SECRET}`],
    ['SESSION_IDLE_SECONDS', '0'],
    ['TRUSTED_PROXY_HOPS', '-1'],
  ])('%s=%p is refused', (name, value) => {
    expect(faultsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: expected `))])
  })

  test.each(['mail', 'Evil\r\nBcc: x@y <mail@example.com>', 'a <b@c> <d@e>'])('the sender %p is refused', (from) => {
    expect(faultsOf({ ...MAIL, MAIL_FROM: from })).toEqual([expect.stringContaining('MAIL_FROM: expected')])
  })

  test('errors of sign-in settings never contain a secret', () => {
    expect(faultsOf({ AUTH_SECRET: 'canary', SMTP_URL: 'http://canary', MAIL_FROM: 'a@b' }).join()).not.toContain(
      'canary',
    )
  })
})
