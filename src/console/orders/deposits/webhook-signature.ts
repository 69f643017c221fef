/**
 * Standard Webhooks signatures: HMAC-SHA256 over id, time and raw body. This file compares the time with `clock`, which tests can set.
 */
import { timingSafeEqual } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import type { Clock } from '@/lib/clock'
import { once } from '@/lib/once'
import type { DepositProvider } from './deposit-provider'

/** Maximum age of a signed message in seconds, and the maximum that its time may be in the future. */
export const WEBHOOK_TOLERANCE_SECONDS = 300
/** A message has one signature per secret of its sender. More signatures than this are an attempt to overload us. */
const MAX_SIGNATURES = 10
/** Printable characters without dots: the signed text joins its parts with dots, so an id with a dot would be ambiguous. */
const MESSAGE_ID = /^[!-\-/-~]{1,200}$/
const TIMESTAMP = /^\d{1,12}$/

/** The headers with a message's signature. */
export const SIGNATURE_HEADERS = {
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
} as const

export type WebhookHeaders = { id: string; timestamp: string; signature: string }

export type WebhookVerdict = 'verified' | 'malformed_headers' | 'outside_tolerance' | 'bad_signature'

interface WebhookVerifier {
  /** Whether the headers can be valid; if not, the body need not be read. */
  checkHeaders(headers: WebhookHeaders): WebhookVerdict
  /** Whether one of the secrets signed exactly this text at about this time. */
  verify(headers: WebhookHeaders, body: string): WebhookVerdict
}

/** The largest body that a sender of Standard Webhooks needs. */
export const MAX_WEBHOOK_BYTES = 64 * 1024

type SignedProvider = Pick<DepositProvider, 'maxWebhookBytes' | 'checkHeaders' | 'verify'>

/** The part of a provider whose webhooks follow the Standard Webhooks specification. */
export function standardWebhooks(secrets: () => Promise<readonly string[]>, clock: Clock): SignedProvider {
  const verifier = once(async () => createWebhookVerifier(await secrets(), clock))
  return {
    maxWebhookBytes: MAX_WEBHOOK_BYTES,
    checkHeaders: async (headers) => (await verifier()).checkHeaders(readHeaders(headers)),
    verify: async (headers, body) => (await verifier()).verify(readHeaders(headers), body),
  }
}

function readHeaders(headers: Headers): WebhookHeaders {
  const read = (name: string) => headers.get(name) ?? ''
  const { id, timestamp, signature } = SIGNATURE_HEADERS
  return { id: read(id), timestamp: read(timestamp), signature: read(signature) }
}

/** Verifies messages signed with any of `secrets` (`whsec_` and base64). Throws if there is none or an empty one. */
export function createWebhookVerifier(secrets: readonly string[], clock: Clock): WebhookVerifier {
  if (secrets.length === 0) throw new Error('a webhook verifier needs a secret')
  const signers = secrets.map((secret) => new Webhook(secret))

  function checkHeaders({ id, timestamp, signature }: WebhookHeaders): WebhookVerdict {
    if (!MESSAGE_ID.test(id) || !TIMESTAMP.test(timestamp) || signature === '') return 'malformed_headers'
    if (signature.split(' ').length > MAX_SIGNATURES) return 'malformed_headers'
    const ageSeconds = Math.floor(clock.now() / 1000) - Number(timestamp)
    return Math.abs(ageSeconds) > WEBHOOK_TOLERANCE_SECONDS ? 'outside_tolerance' : 'verified'
  }

  return {
    checkHeaders,
    verify(headers, body) {
      const verdict = checkHeaders(headers)
      if (verdict !== 'verified') return verdict
      const at = new Date(Number(headers.timestamp) * 1000)
      const given = headers.signature.split(' ')
      let isSigned = false
      // Every pair is compared in constant time, so that the duration does not reveal the matching one.
      for (const signer of signers) {
        const expected = signer.sign(headers.id, at, body)
        for (const candidate of given) isSigned = isEqual(candidate, expected) || isSigned
      }
      return isSigned ? 'verified' : 'bad_signature'
    },
  }
}

/** Signs a message as its sender does. */
export function signWebhook(secret: string, message: { id: string; at: Date; body: string }): WebhookHeaders {
  const { id, at, body } = message
  const timestamp = String(Math.floor(at.getTime() / 1000))
  return { id, timestamp, signature: new Webhook(secret).sign(id, at, body) }
}

function isEqual(left: string, right: string): boolean {
  const [first, second] = [Buffer.from(left), Buffer.from(right)]
  return first.length === second.length && timingSafeEqual(first, second)
}
