/** A simulated payment provider for development and tests. Its webhooks are signed and sent like real ones. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { formatCents, parseCents } from '@/console/orders/cents'
import { DEPOSIT_LIFETIME_MS, MAX_PAYMENT_CENTS } from '@/console/orders/limits'
import type { Database } from '@/db/client'
import { sandboxDepositSecret } from '@/db/orders-schema'
import { assert } from '@/lib/assert'
import type { Clock } from '@/lib/clock'
import { randomBase62, sha256Hex } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import type { DepositEvent, DepositOrder, DepositProvider } from './deposit-provider'
import { signWebhook, standardWebhooks, type WebhookHeaders } from './webhook-signature'

export const SANDBOX_NAME = 'sandbox'
export const SANDBOX_PATH = '/sandbox/deposits'

export type SandboxPayment = {
  paymentId: string
  reference: string
  amountCents: number
  currency: 'USD'
  expiresAt: string
  returnUrl: string | null
}

export type SandboxMessage = { headers: WebhookHeaders; body: string }

export interface SandboxProvider extends DepositProvider {
  /** The payment of a page; undefined if this provider did not make the page. */
  open(token: string): Promise<SandboxPayment | undefined>
  /** The webhook that reports a payment of `amountCents`; each call makes another transfer. */
  paid(payment: SandboxPayment, amountCents: number): Promise<SandboxMessage>
  /** The webhook that reports that the customer cancelled the payment. */
  cancelled(payment: SandboxPayment): Promise<SandboxMessage>
}

/** `secrets` are the webhook secrets (`whsec_…`); the first one signs. */
export function createSandboxProvider(secrets: () => Promise<readonly string[]>, clock: Clock): SandboxProvider {
  async function secret(): Promise<string> {
    const [newest] = await secrets()
    assert(newest !== undefined, 'there is a webhook secret')
    return newest
  }
  return {
    ...standardWebhooks(secrets, clock),
    name: SANDBOX_NAME,
    lifetimeMs: DEPOSIT_LIFETIME_MS,
    async createPayment(order) {
      const payment = toPayment(order)
      const url = `${SANDBOX_PATH}/${seal(payment, await secret())}`
      return { paymentId: payment.paymentId, url, account: accountOf(payment) }
    },
    readEvents: async (body) => [readEvent(body)],
    open: async (token) => unseal(token, await secret()),
    async paid({ paymentId, reference, currency }, amountCents) {
      const transfer = { transfer_id: `tr_${randomBase62(16)}`, amount: formatCents(amountCents), currency }
      const data = { payment_id: paymentId, reference, payer: 'Sandbox payer', ...transfer }
      return message(await secret(), clock, 'deposit.received', data)
    },
    async cancelled({ paymentId, reference }) {
      return message(await secret(), clock, 'deposit.cancelled', { payment_id: paymentId, reference })
    },
  }
}

/** Returns the same payment for the same order. */
function toPayment({ orderId, reference, amountCents, currency, expiresAt, returnUrl }: DepositOrder): SandboxPayment {
  const paymentId = `dep_${sha256Hex(orderId).slice(0, 24)}`
  return {
    paymentId,
    reference,
    amountCents,
    currency,
    expiresAt: expiresAt.toISOString(),
    returnUrl: returnUrl ?? null,
  }
}

/** A made-up account number that belongs to no bank. */
function accountOf({ paymentId }: SandboxPayment): string {
  const digits = BigInt(`0x${sha256Hex(paymentId).slice(0, 16)}`)
    .toString()
    .padStart(12, '0')
  return `SANDBOX ${digits.slice(0, 12).replace(/(\d{4})(?=\d)/g, '$1 ')}`
}

function readEvent({ type, data }: JsonObject): DepositEvent {
  if (typeof type !== 'string') return { kind: 'malformed', reason: 'type' }
  if (MOVES_NOTHING.has(type)) return { kind: 'ignored', type }
  const reversal = REVERSALS.get(type)
  if (type !== 'deposit.received' && !reversal) return { kind: 'unknown', type }
  if (!isJsonObject(data)) return { kind: 'malformed', reason: 'data' }
  const { payment_id: paymentId, currency, amount } = data
  const amountCents = typeof amount === 'string' ? parseCents(amount) : undefined
  if (amountCents === undefined || amountCents <= 0 || amountCents > MAX_PAYMENT_CENTS) {
    return { kind: 'malformed', reason: 'amount' }
  }
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) return { kind: 'malformed', reason: 'currency' }
  if (reversal) return readReversal(reversal, data, { amountCents, currency })
  const { transfer_id: externalId, reference, payer } = data
  if (!isText(externalId) || !isText(paymentId) || !isText(reference)) return { kind: 'malformed', reason: 'ids' }
  const sender = isText(payer) ? payer : undefined
  return { kind: 'received', externalId, paymentId, reference, amountCents, currency, sender }
}

type ReversalForm = { kind: 'chargeback' | 'refund' | 'reinstatement'; own: string; undone: string }

/** By event type: the fields with the movement's id and with the id of the movement it undoes. */
const REVERSALS: ReadonlyMap<string, ReversalForm> = new Map([
  ['deposit.charged_back', { kind: 'chargeback', own: 'chargeback_id', undone: 'transfer_id' }],
  ['deposit.refunded', { kind: 'refund', own: 'refund_id', undone: 'transfer_id' }],
  ['deposit.chargeback_won', { kind: 'reinstatement', own: 'reinstatement_id', undone: 'chargeback_id' }],
  ['deposit.refund_failed', { kind: 'reinstatement', own: 'reinstatement_id', undone: 'refund_id' }],
])
const MOVES_NOTHING: ReadonlySet<string> = new Set([
  'deposit.started',
  'deposit.pending',
  'deposit.cancelled',
  'deposit.failed',
  'deposit.dispute_announced',
])

function readReversal(
  { kind, own, undone }: ReversalForm,
  data: JsonObject,
  money: { amountCents: number; currency: string },
): DepositEvent {
  const { [own]: externalId, [undone]: undoes, payment_id: paymentId, reason } = data
  if (!isText(externalId) || !isText(undoes) || !isText(paymentId)) return { kind: 'malformed', reason: 'ids' }
  return { kind, externalId, undoes, paymentId, ...money, note: isText(reason) ? reason : undefined }
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && /^\P{C}{1,200}$/u.test(value)
}

function message(secret: string, clock: Clock, type: string, data: JsonObject): SandboxMessage {
  const at = new Date(clock.now())
  const body = JSON.stringify({ type, timestamp: at.toISOString(), data })
  return { headers: signWebhook(secret, { id: `msg_${randomBase62(22)}`, at, body }), body }
}

function seal(payment: SandboxPayment, secret: string): string {
  const content = Buffer.from(JSON.stringify(payment)).toString('base64url')
  return `${content}.${sealOf(content, secret)}`
}

function unseal(token: string, secret: string): SandboxPayment | undefined {
  const [content = '', seal = ''] = token.split('.')
  const [given, expected] = [Buffer.from(seal), Buffer.from(sealOf(content, secret))]
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  return JSON.parse(Buffer.from(content, 'base64url').toString()) as SandboxPayment
}

function sealOf(content: string, secret: string): string {
  return createHmac('sha256', `sandbox page ${secret}`).update(content).digest('base64url')
}

const SECRET_BYTES = 32

/** The secret in the database, in the form `whsec_…`, shared by all gateways and created by the first. */
export async function readOrCreateSandboxSecret({ db }: Database): Promise<string> {
  const [kept] = await db.select().from(sandboxDepositSecret)
  if (kept) return kept.secret
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
  await db.insert(sandboxDepositSecret).values({ id: 1, secret }).onConflictDoNothing()
  const [made] = await db.select().from(sandboxDepositSecret)
  assert(made, 'the secret was inserted, by us or by another gateway')
  return made.secret
}
