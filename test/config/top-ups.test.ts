/** Settings of top-ups: no webhook without a secret, no sandbox in production, no mistyped bank account. */
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, type Environment, loadConfig } from '@/config/config'
import { faultsOf, load as loadAll } from './read-settings'

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const OLDER = `whsec_${Buffer.alloc(24, 2).toString('base64')}`
const SANDBOX = { DEPOSIT_PROVIDER: 'sandbox', HOST: '127.0.0.1' }
const IBAN = 'GB82 WEST 1234 5698 7654 32'

describe('deposits', () => {
  test('deposits are off by default, and handled by the sandbox if answers are simulated', () => {
    expect(load({}).deposit).toBeUndefined()
    expect(load({ NODE_ENV: 'production', AUTH_SECRET: 'x'.repeat(32) }).deposit).toBeUndefined()
    expect(loadConfig({}, { isSimulated: true })).toMatchObject({
      config: { topUps: { deposit: { provider: 'sandbox' } } },
    })
    expect(loadConfig({ DEPOSIT_PROVIDER: 'none' }, { isSimulated: true })).toMatchObject({
      config: { topUps: { deposit: undefined } },
    })
  })

  test('several webhook secrets are read, the newest first', () => {
    const environment = { ...SANDBOX, DEPOSIT_WEBHOOK_SECRETS: `${SECRET},${OLDER}` }
    expect(load(environment).deposit).toEqual({ provider: 'sandbox', webhookSecrets: [SECRET, OLDER] })
  })

  test.each([undefined, ''])('the deposit secret %p stops the start', (secret) => {
    const faults = faultsOf({ ...SANDBOX, DEPOSIT_WEBHOOK_SECRETS: secret })
    expect(faults).toEqual([expect.stringContaining('DEPOSIT_WEBHOOK_SECRETS: is unset')])
  })

  test.each([
    ',',
    `${SECRET},`,
    `,${SECRET}`,
    `${SECRET}, ${OLDER}`,
    'whsec_',
    'whsec_dG9vc2hvcnQ=',
    'a'.repeat(44),
    `${SECRET}x`,
  ])('%p is refused as webhook secrets, and not printed', (secret) => {
    const faults = faultsOf({ ...SANDBOX, DEPOSIT_WEBHOOK_SECRETS: secret })
    expect(faults[0]).toStartWith('DEPOSIT_WEBHOOK_SECRETS: expected one to five secrets')
    if (secret.length > 10) expect(faults.join('\n')).not.toContain(secret)
  })

  test('production refuses deposits by the sandbox', () => {
    const production = { NODE_ENV: 'production', AUTH_SECRET: 'x'.repeat(32) }
    const environment = { ...production, DEPOSIT_PROVIDER: 'sandbox', DEPOSIT_WEBHOOK_SECRETS: SECRET }
    expect(faultsOf(environment)).toEqual([expect.stringContaining('DEPOSIT_PROVIDER: NODE_ENV=production refuses')])
  })
})

describe('deposits by Stripe', () => {
  const TEST_KEY = 'sk_test_4eC39HqLyjWDarjtT1zdp7dc'
  const LIVE_KEY = 'rk_live_4eC39HqLyjWDarjtT1zdp7dc'
  const SIGNING = `whsec_${'a1'.repeat(16)}`
  const STRIPE = { DEPOSIT_PROVIDER: 'stripe', HOST: '127.0.0.1', STRIPE_WEBHOOK_SECRETS: SIGNING }
  const PRODUCTION = { NODE_ENV: 'production', AUTH_SECRET: 'x'.repeat(32) }

  test('Stripe deposits accept a test key for trials and a live key in production', () => {
    const settings = { provider: 'stripe', hasInvoices: true, addsTax: false, asksTaxId: false, billingAddress: 'auto' }
    const own = { webhookSecrets: [SIGNING], apiBase: undefined }
    expect(load({ ...STRIPE, STRIPE_SECRET_KEY: TEST_KEY }).deposit).toMatchObject({
      ...settings,
      ...own,
      isLive: false,
    })
    const live = load({ ...STRIPE, ...PRODUCTION, STRIPE_SECRET_KEY: LIVE_KEY }).deposit
    expect(live).toMatchObject({ ...settings, ...own, isLive: true, secretKey: LIVE_KEY })
  })

  test('a Stripe key of the other mode is refused, and not printed', () => {
    const test = faultsOf({ ...STRIPE, ...PRODUCTION, STRIPE_SECRET_KEY: TEST_KEY })
    expect(test).toEqual([expect.stringContaining('STRIPE_SECRET_KEY: is a test key')])
    const live = faultsOf({ ...STRIPE, STRIPE_SECRET_KEY: LIVE_KEY })
    expect(live).toEqual([expect.stringContaining('STRIPE_SECRET_KEY: is a live key')])
    expect([...test, ...live].join()).not.toContain('4eC39')
  })

  test('Stripe deposits without key or secrets, or with other values in their place, stop the start', () => {
    expect(faultsOf({ DEPOSIT_PROVIDER: 'stripe', HOST: '127.0.0.1' })).toEqual([
      expect.stringContaining('STRIPE_SECRET_KEY: is unset'),
      expect.stringContaining('STRIPE_WEBHOOK_SECRETS: is unset'),
    ])
    const wrong = faultsOf({ ...STRIPE, STRIPE_SECRET_KEY: 'pk_test_4eC39HqLyjWDarjtT1zdp7dc' })
    expect(wrong[0]).toStartWith('STRIPE_SECRET_KEY: expected a secret key of Stripe')
  })

  test('a Stripe test key beside a provider key is refused if the gateway is public, as test cards pay nothing', () => {
    const { HOST: _, ...reachable } = { ...STRIPE, STRIPE_SECRET_KEY: TEST_KEY }
    expect(faultsOf(reachable)).toEqual([expect.stringContaining('DEPOSIT_PROVIDER: a test key of Stripe credits')])
  })

  test('the address of Stripe’s API may only be changed to an address of this machine, for tests', () => {
    const environment = { ...STRIPE, STRIPE_SECRET_KEY: TEST_KEY }
    expect(faultsOf({ ...environment, STRIPE_API_BASE: 'http://127.0.0.1:1234' })).toEqual([])
    const elsewhere = { ...environment, STRIPE_API_BASE: 'http://stripe.example' }
    expect(faultsOf(elsewhere)).toEqual([expect.stringContaining('STRIPE_API_BASE: is for tests')])
    expect(faultsOf({ ...elsewhere, NODE_ENV: 'test' })).toEqual([])
  })

  test('Stripe deposits read key and secrets from files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stripe-'))
    try {
      const [key, secrets] = [join(folder, 'key'), join(folder, 'secrets')]
      writeFileSync(key, `${TEST_KEY}\n`)
      writeFileSync(secrets, SIGNING)
      const files = { STRIPE_SECRET_KEY_FILE: key, STRIPE_WEBHOOK_SECRETS_FILE: secrets }
      const environment = { DEPOSIT_PROVIDER: 'stripe', HOST: '127.0.0.1', ...files }
      expect(load(environment).deposit).toMatchObject({ secretKey: TEST_KEY, webhookSecrets: [SIGNING] })
      const both = faultsOf({ ...environment, STRIPE_SECRET_KEY: TEST_KEY })
      expect(both[0]).toContain('STRIPE_SECRET_KEY and STRIPE_SECRET_KEY_FILE are both set')
      const missing = faultsOf({ ...environment, STRIPE_SECRET_KEY_FILE: join(folder, 'none') })
      expect(missing[0]).toContain('cannot read the file that STRIPE_SECRET_KEY_FILE names')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

test('an order minimum above the maximum stops the start', () => {
  expect(load({ ORDER_MIN_USD: '20', ORDER_MAX_USD: '50' }).orderUsd).toEqual({ minimum: 20, maximum: 50 })
  expect(faultsOf({ ORDER_MIN_USD: '51', ORDER_MAX_USD: '50' })).toEqual(['ORDER_MIN_USD: is above ORDER_MAX_USD'])
})

describe('bank transfers', () => {
  test('bank transfers show the configured account', () => {
    const environment = {
      BANK_TRANSFER_BENEFICIARY: 'Gateway Ltd',
      BANK_TRANSFER_IBAN: IBAN,
      BANK_TRANSFER_BIC: 'WESTGB2L',
      BANK_TRANSFER_BANK: 'West Bank',
    }
    expect(load(environment).bank).toEqual({
      beneficiary: 'Gateway Ltd',
      iban: 'GB82WEST12345698765432',
      bic: 'WESTGB2L',
      bank: 'West Bank',
      address: undefined,
      note: undefined,
    })
  })

  test('bank transfers need holder and account', () => {
    expect(faultsOf({ BANK_TRANSFER_IBAN: IBAN })).toEqual([expect.stringContaining('BANK_TRANSFER_BENEFICIARY')])
    expect(faultsOf({ BANK_TRANSFER_BENEFICIARY: 'Gateway' })).toEqual([expect.stringContaining('BANK_TRANSFER_IBAN')])
  })

  test.each(['GB82 WEST 1234 5698 7654 33', 'GB82', 'not an account at all'])(
    'the bank account %p is refused',
    (iban) => {
      const faults = faultsOf({ BANK_TRANSFER_BENEFICIARY: 'Gateway', BANK_TRANSFER_IBAN: iban })
      expect(faults).toEqual([expect.stringContaining('BANK_TRANSFER_IBAN: expected an IBAN')])
    },
  )
})

const load = (environment: Environment): Config['topUps'] => loadAll(environment).topUps
