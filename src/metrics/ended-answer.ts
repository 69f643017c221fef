/** How an answer ended, as one event: made once, and given to all that count, log or trace answers. */
import type { FormatName } from '@/chat/format-name'
import type { FinishKind } from '@/chat/response'
import type { Usage } from '@/chat/usage'
import type { Charge, Ending } from '@/ledger/charge'
import type { DifferingCounts } from '@/ledger/usage-record'
import type { Logger } from '@/lib/logger'
import type { Nano } from '@/lib/money'
import { type RequestLine, writeLine } from './request-line'

/** One answer that has ended and is settled. `model` and `provider` are names of the catalogue. */
export type EndedAnswer = {
  /** What its request has left in the log so far. */
  line: RequestLine
  /** Calls of providers that it took. */
  attempts: number
  routeReason: string
  format: FormatName
  model: string
  provider: string
  /** What the client got; 499 where it went away. */
  status: number
  ending: Ending
  charge: Charge
  /** What the provider asks of us for it, also where it is free to the caller; undefined if that is not known. */
  providerCost?: Nano | undefined
  /** The provider's counts and ours, where they are far apart. */
  counts?: DifferingCounts | undefined
  /** What the provider counted in classes that have no price here. */
  unknownUsage?: readonly string[] | undefined
  /** The provider's last word on usage, where it said one. */
  usage: Usage | null
  finish: FinishKind | undefined
  /** The provider's word for it, where no table knows the word. */
  unlistedFinish?: string | undefined
  /** The provider's own id of the answer and name of the model; empty if it gave none. */
  answeredAs: { id: string; model: string }
  /** Milliseconds from arrival to the first content and to the end. */
  firstTokenMs: number | null
  durationMs: number
}

/** Tells metrics, the log and, where there are any, traces. */
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

/** Writes the line of an answer, and one before it for what the provider said that nobody here knows: usage, or why it ended. */
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
