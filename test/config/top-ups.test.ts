/** Settings of top-ups: no webhook without a secret, no sandbox in production, no transfer to a mistyped account. */
import { describe, expect, test } from 'bun:test'
import { type Config, type Environment, loadConfig } from '@/config/config'
import { formatFaults } from '@/lib/fault'

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const OLDER = `whsec_${Buffer.alloc(24, 2).toString('base64')}`
const SANDBOX = { DEPOSIT_PROVIDER: 'sandbox', HOST: '127.0.0.1' }
const IBAN = 'GB82 WEST 1234 5698 7654 32'

describe('deposits', () => {
  test('deposits are off by default, and taken by the sandbox if answers are simulated', () => {
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

  test.each([undefined, ''])('a deposit provider with the secret %p does not start', (secret) => {
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
  ])('%p is refused as secrets, without printing it', (secret) => {
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

  test.each(['GB82 WEST 1234 5698 7654 33', 'GB82', 'not an account at all'])('the account %p is refused', (iban) => {
    const faults = faultsOf({ BANK_TRANSFER_BENEFICIARY: 'Gateway', BANK_TRANSFER_IBAN: iban })
    expect(faults).toEqual([expect.stringContaining('BANK_TRANSFER_IBAN: expected an IBAN')])
  })
})

function load(environment: Environment): Config['topUps'] {
  const result = loadConfig(environment)
  if (result.kind === 'faulty') throw new Error(formatFaults('faulty', result.faults))
  return result.config.topUps
}

function faultsOf(environment: Environment): string[] {
  const result = loadConfig(environment)
  return result.kind === 'faulty' ? result.faults.map((fault) => `${fault.place}: ${fault.message}`) : []
}
