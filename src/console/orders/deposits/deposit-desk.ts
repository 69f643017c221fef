/** The outcome of a provider's webhook once its raw text is here: signature, meaning, payment. */

import type { Orders } from '@/console/orders/orders'
import type { ConfirmOutcome, ReverseOutcome } from '@/console/orders/types'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import type { Logger } from '@/lib/logger'
import type { DepositEvent, DepositProvider } from './deposit-provider'
import type { WebhookHeaders, WebhookVerdict, WebhookVerifier } from './webhook-signature'

type DepositDeskDeps = {
  provider: DepositProvider
  verifier(): Promise<WebhookVerifier>
  orders: Orders
  logger: Logger
  /** Told the outcome of each delivery. */
  onOutcome(provider: string, outcome: OutcomeWord): void
}

export type DepositOutcome =
  | { kind: 'refused'; reason: Exclude<WebhookVerdict, 'verified'> }
  /** Signed, but not what this provider says. */
  | { kind: 'malformed' }
  /** True, and not about money that has arrived. */
  | { kind: 'ignored' }
  /** Signed, of a type that is not known. */
  | { kind: 'unknown'; type: string }
  | ConfirmOutcome
  | ReverseOutcome

/** Every value that `onOutcome` gets. */
export const DEPOSIT_OUTCOMES = [
  'credited',
  'unmatched',
  'duplicate',
  'ignored',
  'chargeback',
  'refund',
  'reinstatement',
  'waiting',
  'kept',
  'unknown',
  'refused',
  'malformed',
] as const
type OutcomeWord = (typeof DEPOSIT_OUTCOMES)[number]

export interface DepositDesk {
  readonly provider: DepositProvider
  /** To be asked before the body is read. */
  checkHeaders(headers: WebhookHeaders): Promise<WebhookVerdict>
  /** `body` is the raw text. Nothing of it is logged. Rejects if the stores can't be reached: the sender tries again. */
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
      deps.onOutcome(deps.provider.name, wordOf(outcome))
      return outcome
    },
  }
}

async function receive(deps: DepositDeskDeps, headers: WebhookHeaders, body: string): Promise<DepositOutcome> {
  const verdict = (await deps.verifier()).verify(headers, body)
  if (verdict !== 'verified') return { kind: 'refused', reason: verdict }
  const json = parse(body)
  const event: DepositEvent = json ? deps.provider.readEvent(json) : { kind: 'malformed', reason: 'no JSON object' }
  const { name } = deps.provider
  const origin = { source: `deposit:${name}`, actor: { kind: 'system', name } } as const
  switch (event.kind) {
    case 'received': {
      const { paymentId, kind: _, ...facts } = event
      return deps.orders.confirmPayment({ ...facts, ...origin, payee: paymentId })
    }
    case 'chargeback':
    case 'refund':
    case 'reinstatement': {
      const { note: words, ...facts } = event
      return deps.orders.reverse({ ...facts, ...origin, ...(words !== undefined && { note: words }) })
    }
    case 'unknown':
      return event
    default:
      return { kind: event.kind }
  }
}

/** The kind of a reversal, or the outcome of another event. */
function wordOf(outcome: DepositOutcome): OutcomeWord {
  if (outcome.kind !== 'reversed' && outcome.kind !== 'reinstated') return outcome.kind
  return outcome.reversal.kind
}

const MAX_TYPE_CHARS = 100

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
    case 'unknown':
      logger.error('deposit_event_unknown', { ...fields, type: outcome.type.slice(0, MAX_TYPE_CHARS) })
      break
    case 'reversed':
    case 'reinstated':
    case 'waiting':
    case 'kept': {
      const { reversalId, kind, orderId, accountId, movedCents, fault } = outcome.reversal
      const facts = {
        reversalId,
        reversal: kind,
        orderId,
        accountId,
        movedCents,
        fault,
        isSuspended: outcome.isSuspended,
      }
      logger.error(`deposit_${outcome.kind}`, { ...fields, ...facts })
      break
    }
    case 'duplicate': {
      if (outcome.isSame) break
      const what = 'payment' in outcome ? outcome.payment.paymentId : outcome.reversal.reversalId
      logger.warn('deposit_contradicted', { ...fields, paymentId: what })
    }
  }
}
