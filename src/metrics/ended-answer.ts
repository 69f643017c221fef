import type { FormatName } from '@/chat/format-name'
import type { FinishKind } from '@/chat/response'
import type { Usage } from '@/chat/usage'
import type { Charge, Ending } from '@/ledger/charge'
import type { DifferingCounts } from '@/ledger/usage-record'
import type { Logger } from '@/lib/logger'
import type { Nano } from '@/lib/money'
import { type RequestLine, writeLine } from './request-line'

export type EndedAnswer = {
  line: RequestLine
  attempts: number
  routeReason: string
  format: FormatName
  model: string
  provider: string
  /** The HTTP status sent to the client; 499 if it disconnected. */
  status: number
  ending: Ending
  charge: Charge
  /** The provider's charge, even if the answer is free to the caller; undefined if unknown. */
  providerCost?: Nano | undefined
  /** The token counts of the provider and of the gateway, if they differ a lot. */
  counts?: DifferingCounts | undefined
  /** Kinds of tokens that the provider counted and that have no price here. */
  unknownUsage?: readonly string[] | undefined
  usage: Usage | null
  finish: FinishKind | undefined
  /** The provider's finish reason, if the gateway doesn't know it. */
  unlistedFinish?: string | undefined
  /** The provider's id of the answer and name of the model; empty if not sent. */
  answeredAs: { id: string; model: string }
  /** Milliseconds from arrival to the first content and to the end. */
  firstTokenMs: number | null
  durationMs: number
}

/** Tells metrics, the log and, if enabled, traces how an answer ended. */
export function tellEnded(
  metrics: { answered(answer: EndedAnswer): void },
  logger: Logger,
  tracing?: typeof metrics,
): (answer: EndedAnswer) => void {
  return (answer) => {
    metrics.answered(answer)
    logEnded(logger, answer)
    tracing?.answered(answer)
  }
}

function logEnded(logger: Pick<Logger, 'infoOwn' | 'warn' | 'error'>, answer: EndedAnswer): void {
  const { line, model, provider, ending, status, attempts, charge, providerCost, counts } = answer
  const { unknownUsage: classes, unlistedFinish: word, firstTokenMs, durationMs, routeReason } = answer
  if (classes) logger.error('unknown_usage_classes', { requestId: line.requestId, provider, model, classes })
  if (word !== undefined) logger.warn('unlisted_finish_reason', { requestId: line.requestId, provider, model, word })
  const charged = charge.kind === 'charge' ? charge : undefined
  const own = {
    model,
    provider,
    ending,
    status,
    attempts,
    firstTokenMs,
    durationMs: Math.round(durationMs),
    costNano: charged?.cost,
    rule: charged?.rule,
    flags: charged?.flags,
    usage: charged?.usage,
    tools: charged?.tools,
    providerCostNano: providerCost,
    counts,
  }
  writeLine(logger, line, own, { routeReason })
}
