/** Handles a provider's webhook: checks its signature, reads its events and applies them. */

import type { Orders } from '@/console/orders/orders'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import type { Logger } from '@/lib/logger'
import type { AppliedDeposit } from './apply-event'
import type { DepositEvent, DepositProvider } from './deposit-provider'
import { SIGNATURE_HEADERS, type WebhookVerdict } from './webhook-signature'

type DepositDeskDeps = {
  provider: DepositProvider
  orders: Pick<Orders, 'applyDeposit'>
  logger: Logger
  /** Called with the outcome of each delivery. */
  onOutcome(provider: string, outcome: OutcomeWord): void
}

export type DepositOutcome = { kind: 'refused'; reason: Exclude<WebhookVerdict, 'verified'> } | AppliedDeposit

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
  /** `body` is the raw text, which is never logged. Rejects if the stores are unreachable: the sender then tries again. */
  receive(headers: Headers, body: string): Promise<DepositOutcome>
}

/** Receives the webhooks of one provider. */
export function createDepositDesk(deps: DepositDeskDeps): DepositDesk {
  const { provider, orders } = deps

  function note(messageId: string, outcome: DepositOutcome): DepositOutcome {
    log(deps, messageId, outcome)
    deps.onOutcome(provider.name, wordOf(outcome))
    return outcome
  }

  return {
    provider,
    async receive(headers, body) {
      const id = headers.get(SIGNATURE_HEADERS.id)
      const verdict = await provider.verify(headers, body)
      if (verdict !== 'verified') return note(id ?? '', { kind: 'refused', reason: verdict })
      const json = parse(body)
      const events: DepositEvent[] = json
        ? await provider.readEvents(json)
        : [{ kind: 'malformed', reason: 'no JSON object' }]
      let last: DepositOutcome = { kind: 'ignored' }
      for (const event of events) last = note(id ?? idOf(json), await orders.applyDeposit(provider.name, event))
      return last
    },
  }
}

/** Reads the message's id from the body, for providers that don't send it in a header. */
function idOf(json: JsonObject | undefined): string {
  return typeof json?.id === 'string' ? json.id.slice(0, MAX_TYPE_CHARS) : ''
}

/** The word for `onOutcome`: for a reversal its kind, for any other event its outcome. */
function wordOf(outcome: DepositOutcome): OutcomeWord {
  if (outcome.kind !== 'reversed' && outcome.kind !== 'reinstated') return outcome.kind
  return outcome.reversal.kind
}

const MAX_TYPE_CHARS = 100

function parse(body: string): JsonObject | undefined {
  const value = parseJson(body)
  return isJsonObject(value) ? value : undefined
}

function log({ logger, provider }: DepositDeskDeps, messageId: string, outcome: DepositOutcome): void {
  const fields = { provider: provider.name, messageId }
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
