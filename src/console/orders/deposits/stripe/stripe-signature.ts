/** Stripe's own signatures of webhooks, checked by Stripe's package. */
import type Stripe from 'stripe'
import type { DepositProvider } from '@/console/orders/deposits/deposit-provider'
import { WEBHOOK_TOLERANCE_SECONDS, type WebhookVerdict } from '@/console/orders/deposits/webhook-signature'
import type { Clock } from '@/lib/clock'

const HEADER = 'stripe-signature'
/** `t=…` and several signatures: one for each of Stripe's secrets, and some of older versions. */
const HEADER_FORM = /^t=(\d{1,12})(,v\d=[0-9a-f]{1,128}){1,10}$/
const MS_PER_SECOND = 1000

/** Accepts webhooks signed with any of `secrets` within the last 300 seconds. */
export function stripeSignature(
  client: () => Promise<Stripe>,
  secrets: readonly string[],
  clock: Clock,
): Pick<DepositProvider, 'checkHeaders' | 'verify'> {
  async function checkHeaders(headers: Headers): Promise<WebhookVerdict> {
    const [, timestamp] = HEADER_FORM.exec(headers.get(HEADER) ?? '') ?? []
    if (timestamp === undefined) return 'malformed_headers'
    const ageSeconds = Math.floor(clock.now() / MS_PER_SECOND) - Number(timestamp)
    return Math.abs(ageSeconds) > WEBHOOK_TOLERANCE_SECONDS ? 'outside_tolerance' : 'verified'
  }

  return {
    checkHeaders,
    async verify(headers, body) {
      const verdict = await checkHeaders(headers)
      if (verdict !== 'verified') return verdict
      const { webhooks } = await client()
      const header = headers.get(HEADER) ?? ''
      for (const secret of secrets) {
        try {
          await webhooks.constructEventAsync(body, header, secret, WEBHOOK_TOLERANCE_SECONDS, undefined, clock.now())
          return 'verified'
        } catch (error) {
          // The package parses the body after it has checked the signature: an error of parsing means a valid signature.
          if (!isUnsigned(error)) return 'verified'
        }
      }
      return 'bad_signature'
    },
  }
}

function isUnsigned(error: unknown): boolean {
  return error instanceof Error && 'type' in error && error.type === 'StripeSignatureVerificationError'
}
