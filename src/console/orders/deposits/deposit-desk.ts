/** What becomes of a provider's webhook once its raw text is here: signature, meaning, payment. */

import type { Orders } from '@/console/orders/orders'
import type { ConfirmOutcome } from '@/console/orders/types'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import type { Logger } from '@/lib/logger'
import type { DepositEvent, DepositProvider } from './deposit-provider'
import type { WebhookHeaders, WebhookVerdict, WebhookVerifier } from './webhook-signature'

type DepositDeskDeps = {
  provider: DepositProvider
  verifier(): Promise<WebhookVerifier>
  orders: Orders
  logger: Logger
}

export type DepositOutcome =
  | { kind: 'refused'; reason: Exclude<WebhookVerdict, 'verified'> }
  /** Signed, but not what this provider says. */
  | { kind: 'malformed' }
  /** True, and not about money that has arrived. */
  | { kind: 'ignored' }
  | ConfirmOutcome

export interface DepositDesk {
  readonly provider: DepositProvider
  /** To be asked before the body is read. */
  checkHeaders(headers: WebhookHeaders): Promise<WebhookVerdict>
  /** `body` is the raw text. Nothing of it is logged. Rejects where the stores can't be reached: the sender tries again. */
  receive(headers: WebhookHeaders, body: string): Promise<DepositOutcome>
}

/** Takes the webhooks of one provider. */
export function createDepositDesk(deps: DepositDeskDeps): DepositDesk {
  return {
    provider: deps.provider,
    checkHeaders: async (headers) => (await deps.verifier()).checkHeaders(headers),
    async receive(headers, body) {
      const outcome = await receive(deps, headers, body)
      note(deps, headers, outcome)
      return outcome
    },
  }
}

async function receive(deps: DepositDeskDeps, headers: WebhookHeaders, body: string): Promise<DepositOutcome> {
  const verdict = (await deps.verifier()).verify(headers, body)
  if (verdict !== 'verified') return { kind: 'refused', reason: verdict }
  const json = parse(body)
  const event: DepositEvent = json ? deps.provider.readEvent(json) : { kind: 'malformed', reason: 'no JSON object' }
  if (event.kind !== 'received') return { kind: event.kind }
  const { paymentId, kind: _, ...facts } = event
  const { name } = deps.provider
  return deps.orders.confirmPayment({
    ...facts,
    source: `deposit:${name}`,
    payee: paymentId,
    actor: { kind: 'system', name },
  })
}

function parse(body: string): JsonObject | undefined {
  const value = parseJson(body)
  return isJsonObject(value) ? value : undefined
}

function note({ logger, provider }: DepositDeskDeps, { id }: WebhookHeaders, outcome: DepositOutcome): void {
  const fields = { provider: provider.name, messageId: id }
  switch (outcome.kind) {
    case 'refused':
      logger.warn('deposit_refused', { ...fields, reason: outcome.reason })
      break
    case 'malformed':
      logger.warn('deposit_malformed', fields)
      break
    case 'ignored':
      logger.info('deposit_ignored', fields)
      break
    case 'credited':
      logger.info('deposit_credited', { ...fields, orderId: outcome.order.orderId, applied: outcome.applied })
      break
    case 'unmatched':
      logger.warn('deposit_unmatched', {
        ...fields,
        paymentId: outcome.payment.paymentId,
        reason: outcome.reason,
      })
      break
    case 'duplicate':
      if (!outcome.isSame) logger.warn('deposit_contradicted', { ...fields, paymentId: outcome.payment.paymentId })
  }
}
