/** The client of Stripe's API, loaded at first need: only gateways that take deposits by Stripe load the package. */
import type Stripe from 'stripe'
import { once } from '@/lib/once'

/** The version of Stripe's API that this folder uses. */
export const STRIPE_API_VERSION = '2026-10-28.endive'

export type StripeSettings = {
  secretKey: string
  isLive: boolean
  webhookSecrets: readonly string[]
  apiBase: string | undefined
  hasInvoices: boolean
  addsTax: boolean
  asksTaxId: boolean
  billingAddress: 'auto' | 'required'
}

/** With its retries, Stripe answers or fails before a customer's request times out. */
const TIMEOUT_MS = 4_000
const MAX_RETRIES = 2

/** Returns a function that makes the client at its first call, and returns the same client later. */
export function stripeClient({ secretKey, apiBase }: StripeSettings): () => Promise<Stripe> {
  return once(async () => {
    const { default: Client } = await import('stripe')
    return new Client(secretKey, {
      apiVersion: STRIPE_API_VERSION,
      timeout: TIMEOUT_MS,
      maxNetworkRetries: MAX_RETRIES,
      telemetry: false,
      ...(apiBase !== undefined && addressOf(new URL(apiBase))),
    })
  })
}

function addressOf({ hostname, port }: URL) {
  return { protocol: 'http', host: hostname, port: port === '' ? 80 : Number(port) } as const
}
