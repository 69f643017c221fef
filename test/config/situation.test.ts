/** Free features at a start: none with a provider key, and only for this machine without one. */
import { describe, expect, test } from 'bun:test'
import { type Environment, loadConfig } from '@/config/config'
import { isLoopback } from '@/config/situation'
import { faultsOf, load } from './read-settings'

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const SANDBOX = { DEPOSIT_PROVIDER: 'sandbox', DEPOSIT_WEBHOOK_SECRETS: SECRET }
const MAIL = { SMTP_URL: 'smtps://user:secret@host:465', MAIL_FROM: 'mail@example.com' }

describe('with a provider key', () => {
  test('with a provider key, deposits, demo account and unconfirmed sign-up are off by default', () => {
    for (const mode of [undefined, '', 'development', 'test']) {
      expect(load({ NODE_ENV: mode })).toMatchObject({
        hasDemoAccount: false,
        topUps: { deposit: undefined },
        signIn: { signUp: 'closed' },
      })
    }
  })

  test('with a provider key, sign-up is open if addresses are confirmed, or if set', () => {
    expect(load(MAIL).signIn.signUp).toBe('open')
    expect(load({ SIGN_UP: 'open' }).signIn.signUp).toBe('open')
    expect(load({ ...MAIL, SIGN_UP: 'closed' }).signIn.signUp).toBe('closed')
  })

  test('with a provider key, the deposit sandbox is on only if set, and only on loopback', () => {
    for (const host of [undefined, '', '0.0.0.0', '::', 'gateway.example.com', '10.0.0.1', '127.0.0.1.example.com']) {
      expect(faultsOf({ ...SANDBOX, HOST: host })).toEqual([expect.stringContaining('DEPOSIT_PROVIDER: the sandbox')])
    }
    for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost']) {
      expect(load({ ...SANDBOX, HOST: host }).topUps.deposit?.provider).toBe('sandbox')
    }
  })

  test('with a provider key, the demo account is on only if set, and production refuses it', () => {
    expect(load({ DEMO_ACCOUNT: 'on' }).hasDemoAccount).toBe(true)
    expect(faultsOf({ DEMO_ACCOUNT: 'on', NODE_ENV: 'production' })).toContainEqual(
      expect.stringContaining('DEMO_ACCOUNT: NODE_ENV=production refuses'),
    )
  })
})

describe('without a provider key', () => {
  test('without a provider key all free features are on, for this machine only', () => {
    expect(loadConfig({}, { isSimulated: true })).toMatchObject({
      config: {
        host: '127.0.0.1',
        hasDemoAccount: true,
        topUps: { deposit: { provider: 'sandbox' } },
        signIn: { signUp: 'open' },
      },
    })
  })

  test('without a provider key, HOST and NODE_ENV decide who can reach the gateway', () => {
    const hostOf = (environment: Environment) => loadConfig(environment, { isSimulated: true })
    expect(hostOf({ HOST: '0.0.0.0' })).toMatchObject({ config: { host: '0.0.0.0' } })
    expect(hostOf({ NODE_ENV: 'development' })).toMatchObject({ config: { host: '0.0.0.0' } })
    expect(load({}).host).toBe('0.0.0.0')
  })

  test('without a provider key, each free feature can be turned off', () => {
    const off = { DEMO_ACCOUNT: 'off', DEPOSIT_PROVIDER: 'none', SIGN_UP: 'closed' }
    expect(loadConfig(off, { isSimulated: true })).toMatchObject({
      config: { hasDemoAccount: false, topUps: { deposit: undefined }, signIn: { signUp: 'closed' } },
    })
  })
})

test.each(['prod', 'Production', 'PRODUCTION', 'live', 'production '])('NODE_ENV=%p stops the start', (mode) => {
  expect(faultsOf({ NODE_ENV: mode })).toEqual([
    expect.stringContaining('NODE_ENV: expected production or development or test'),
  ])
})

test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost', 'LOCALHOST'])('%s is a loopback address', (host) => {
  expect(isLoopback(host)).toBe(true)
})

test.each(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.com', 'localhost.example.com', ''])(
  '%p is not a loopback address',
  (host) => {
    expect(isLoopback(host)).toBe(false)
  },
)
