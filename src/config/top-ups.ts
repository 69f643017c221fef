/** Settings for paying: the bank account for transfers, and the provider of deposits. */
import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { Fault } from '@/lib/fault'
import { parseIban } from '@/lib/iban'
import { oneOf } from '@/lib/schemas'
import { isLoopback, isWorthless, type Situation } from './situation'
import { integer, line, optional, secret } from './variables'

export type TopUpSettings = {
  /** The bank account for transfers. Undefined: not configured. `iban` has no spaces. */
  bank:
    | {
        beneficiary: string
        iban: string
        bank: string | undefined
        bic: string | undefined
        address: string | undefined
        note: string | undefined
      }
    | undefined
  /** The seller on receipts. Undefined: the holder of the bank account, or the name of the service. */
  seller: { name: string | undefined; address: string | undefined; vatId: string | undefined }
  deposit: SandboxSettings | StripeSettings | undefined
  /** The smallest and the largest order, in US dollars. */
  orderUsd: { minimum: number; maximum: number }
  /** Days in which a payment can be taken back, and its credit can't be moved to another account. */
  reversibleDays: { deposit: number; bankTransfer: number }
}

/** `webhookSecrets`: newest first. Undefined: the gateway makes a secret and stores it in the database. */
type SandboxSettings = { provider: 'sandbox'; webhookSecrets: readonly string[] | undefined }

type StripeSettings = {
  provider: 'stripe'
  secretKey: string
  isLive: boolean
  /** The secrets of the webhook, newest first. */
  webhookSecrets: readonly string[]
  /** Undefined: Stripe's own address. */
  apiBase: string | undefined
  hasInvoices: boolean
  /** Whether Stripe computes tax and adds it to the price. */
  addsTax: boolean
  asksTaxId: boolean
  billingAddress: 'auto' | 'required'
}

/** At least 24 bytes, padded as base64 is. */
const WEBHOOK_SECRET = 'whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?'

const STRIPE_WEBHOOK_SECRET = 'whsec_[A-Za-z0-9+/=_-]{16,128}'
const ON_OR_OFF = ['on', 'off'] as const

/** Secrets that may be in a file, which the variable `NAME_FILE` names. */
export const FILE_VARIABLES: readonly string[] = ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRETS']

export const TOP_UP_VARIABLES = {
  BANK_TRANSFER_BENEFICIARY: optional(line(70, 'the name of the account holder in one line')),
  BANK_TRANSFER_IBAN: optional(line(42, 'an IBAN')),
  BANK_TRANSFER_BANK: optional(line(100, 'the name of the bank in one line')),
  BANK_TRANSFER_BIC: optional(
    Type.String({ pattern: '^[A-Z0-9]{8}([A-Z0-9]{3})?$', description: 'a BIC of 8 or 11 capital letters and digits' }),
  ),
  BANK_TRANSFER_ADDRESS: optional(line(200, "the account holder's address in one line")),
  BANK_TRANSFER_NOTE: optional(line(300, 'a remark of one line for those who pay')),
  SELLER_NAME: optional(line(200, 'the legal name of the seller in one line')),
  SELLER_ADDRESS: optional(line(200, 'the address of the seller in one line')),
  SELLER_VAT_ID: optional(line(30, 'the VAT id of the seller')),
  DEPOSIT_PROVIDER: optional(oneOf(['stripe', 'sandbox', 'none'], { description: 'stripe, sandbox or none' })),
  DEPOSIT_WEBHOOK_SECRETS: optional(
    secret(
      `^${WEBHOOK_SECRET}(,${WEBHOOK_SECRET}){0,4}$`,
      'one to five secrets, the newest first, separated by commas without spaces: whsec_ and 24 to 65 bytes in base64',
    ),
  ),
  STRIPE_SECRET_KEY: optional(
    secret('^(sk|rk)_(test|live)_[A-Za-z0-9_]{10,240}$', 'a secret key of Stripe: sk_live_…, or sk_test_… for trials'),
  ),
  STRIPE_WEBHOOK_SECRETS: optional(
    secret(
      `^${STRIPE_WEBHOOK_SECRET}(,${STRIPE_WEBHOOK_SECRET}){0,4}$`,
      'one to five signing secrets of Stripe (whsec_…), the newest first, separated by commas without spaces',
    ),
  ),
  STRIPE_API_BASE: optional(
    Type.String({ pattern: '^http://[^\\s/?#@]+$', description: 'an http:// address without a path' }),
  ),
  STRIPE_INVOICES: oneOf(ON_OR_OFF, { default: 'on', description: 'on or off' }),
  STRIPE_AUTOMATIC_TAX: oneOf(ON_OR_OFF, { default: 'off', description: 'on or off' }),
  STRIPE_TAX_ID_COLLECTION: oneOf(ON_OR_OFF, { default: 'off', description: 'on or off' }),
  STRIPE_BILLING_ADDRESS: oneOf(['auto', 'required'], { default: 'auto', description: 'auto or required' }),
  ORDER_MIN_USD: integer(5, 1, 100_000, 'US dollars'),
  ORDER_MAX_USD: integer(10_000, 1, 100_000, 'US dollars'),
  DEPOSIT_REVERSIBLE_DAYS: integer(30, 0, 3_650, 'a number of days'),
  BANK_TRANSFER_REVERSIBLE_DAYS: integer(0, 0, 3_650, 'a number of days'),
}

type TopUpValues = Static<TObject<typeof TOP_UP_VARIABLES>> & { NODE_ENV?: string | undefined }

/** Reports wrong or unsafe settings of top-ups, such as a wrong IBAN, or webhooks that any sender could sign. */
export function topUpFaults(values: Record<string, unknown>): Fault[] {
  const faults: Fault[] = []
  const iban = values.BANK_TRANSFER_IBAN
  if (typeof iban === 'string' && parseIban(iban) === undefined) {
    faults.push({ place: 'BANK_TRANSFER_IBAN', message: 'expected an IBAN; its form or its check digits are wrong' })
  }
  if (Number(values.ORDER_MIN_USD) > Number(values.ORDER_MAX_USD)) {
    faults.push({ place: 'ORDER_MIN_USD', message: 'is above ORDER_MAX_USD' })
  }
  if (values.DEPOSIT_PROVIDER === 'stripe') faults.push(...stripeFaults(values))
  if (values.DEPOSIT_PROVIDER !== 'sandbox') return faults
  if (values.NODE_ENV === 'production') {
    faults.push({
      place: 'DEPOSIT_PROVIDER',
      message: 'NODE_ENV=production refuses the sandbox, which credits what nobody paid',
    })
  }
  if (values.DEPOSIT_WEBHOOK_SECRETS === undefined) {
    faults.push({
      place: 'DEPOSIT_WEBHOOK_SECRETS',
      message: 'is unset or faulty; without it anybody could sign the webhooks of DEPOSIT_PROVIDER',
    })
  }
  return faults
}

/** With a test key in production, customers would pay no real money. With a live key elsewhere, tests would charge real cards. */
function stripeFaults(values: Record<string, unknown>): Fault[] {
  const faults: Fault[] = []
  const { STRIPE_SECRET_KEY: key, STRIPE_API_BASE: base, NODE_ENV: mode } = values
  for (const place of FILE_VARIABLES) {
    if (values[place] === undefined) {
      faults.push({ place, message: 'is unset or faulty; DEPOSIT_PROVIDER=stripe needs it' })
    }
  }
  if (typeof key === 'string' && isLiveKey(key) !== (mode === 'production')) {
    const message = isLiveKey(key)
      ? 'is a live key, which moves real money; only NODE_ENV=production takes one'
      : 'is a test key, with which nobody pays; NODE_ENV=production refuses it'
    faults.push({ place: 'STRIPE_SECRET_KEY', message })
  }
  if (typeof base === 'string' && mode !== 'test' && !isLoopback(new URL(base).hostname)) {
    faults.push({
      place: 'STRIPE_API_BASE',
      message: 'is for tests: only an address of this machine, such as http://127.0.0.1',
    })
  }
  return faults
}

function isLiveKey(key: string): boolean {
  return /^.k_live_/.test(key)
}

/** The settings from validated values. With simulated answers, deposits are simulated by default; else there are none by default. */
export function toTopUps(values: TopUpValues, situation: Situation): TopUpSettings {
  return {
    bank: toBank(values),
    seller: { name: values.SELLER_NAME, address: values.SELLER_ADDRESS, vatId: values.SELLER_VAT_ID },
    deposit: toDeposit(values, situation),
    orderUsd: { minimum: values.ORDER_MIN_USD, maximum: values.ORDER_MAX_USD },
    reversibleDays: { deposit: values.DEPOSIT_REVERSIBLE_DAYS, bankTransfer: values.BANK_TRANSFER_REVERSIBLE_DAYS },
  }
}

function toBank(values: TopUpValues): TopUpSettings['bank'] {
  const { BANK_TRANSFER_BENEFICIARY: beneficiary, BANK_TRANSFER_IBAN: text } = values
  const iban = parseIban(text ?? '')
  if (beneficiary === undefined || iban === undefined) return undefined
  return {
    beneficiary,
    iban,
    bank: values.BANK_TRANSFER_BANK,
    bic: values.BANK_TRANSFER_BIC,
    address: values.BANK_TRANSFER_ADDRESS,
    note: values.BANK_TRANSFER_NOTE,
  }
}

function toDeposit(values: TopUpValues, situation: Situation): TopUpSettings['deposit'] {
  const { DEPOSIT_PROVIDER: chosen, DEPOSIT_WEBHOOK_SECRETS: secrets } = values
  const provider = chosen ?? (isWorthless(values, situation) ? 'sandbox' : 'none')
  if (provider === 'none') return undefined
  return provider === 'stripe' ? toStripe(values) : { provider, webhookSecrets: secrets?.split(',') }
}

function toStripe(values: TopUpValues): StripeSettings | undefined {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRETS: secrets } = values
  if (secretKey === undefined || secrets === undefined) return undefined
  return {
    provider: 'stripe',
    secretKey,
    isLive: isLiveKey(secretKey),
    webhookSecrets: secrets.split(','),
    apiBase: values.STRIPE_API_BASE,
    hasInvoices: values.STRIPE_INVOICES === 'on',
    addsTax: values.STRIPE_AUTOMATIC_TAX === 'on',
    asksTaxId: values.STRIPE_TAX_ID_COLLECTION === 'on',
    billingAddress: values.STRIPE_BILLING_ADDRESS,
  }
}
