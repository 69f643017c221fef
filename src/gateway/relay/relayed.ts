/** An answer being relayed: its client, its source, and its end. */
import type { Provider } from '@/catalog/types'
import type { Usage } from '@/chat/usage'
import type { AnswerContext, Format, Framing, PassHooks } from '@/formats/format'
import type { Repair } from '@/formats/repairs'
import type { DrainSlots } from '@/gateway/attempt/drain-slots'
import { isUsageStated, type OpenCharge, usageNow } from '@/gateway/charge/open-charge'
import { type SettleDeps, settle } from '@/gateway/charge/settle'
import { createSignatureCollector, type SignatureCollector } from '@/gateway/signatures/signature-collector'
import type { SignatureStore } from '@/gateway/signatures/signature-store'
import type { Charge, Ending, SettledAnswer } from '@/ledger/charge'
import type { Payer } from '@/ledger/outcomes'
import { CLIENT_CLOSED_STATUS } from '@/ledger/usage-record'
import type { Metrics } from '@/metrics/metrics'
import type { Permit } from '@/routing/failover/permit'
import type { AttemptListener } from '@/telemetry/tracing'
import type { ActiveStreams } from './active-streams'
import type { HeaderFacts } from './headers'

export type Client = {
  readonly requestId: string
  readonly payer: Payer
  readonly format: Format
  /** The client's stream framing: the format's own, unless the path requires another. */
  readonly framing: Framing
  readonly wantsStream: boolean
  readonly signal: AbortSignal
  /** Returns a text to send after the end of a complete stream, in the framing's form. */
  readonly epilogue: ((answer: SettledAnswer) => string) | undefined
  /** Called when all content for the client is known, before the last chunk is sent. */
  onEnd(): void
  /** Stores an answer, unless it was cut; `lastWords` is its last chunk. Returns the last chunk to send. Never rejects. */
  readonly keep: ((lastWords: string, ending: 'complete' | 'cut') => Promise<string>) | undefined
  readonly isPrivate: boolean
}

export type RelayDeps = SettleDeps & {
  metrics: Pick<Metrics, 'overhead' | 'repaired'>
  streams: Pick<ActiveStreams, 'add'>
  drains: DrainSlots
  signatures: Pick<SignatureStore, 'keep'>
}

type Known = Pick<RelayedAnswer, 'context' | 'mayReason' | 'upstreamMs' | 'loweredCap'>

/** The parts of an attempt that its answer needs. */
type AnsweringAttempt = {
  readonly providerFormat: Format
  /** The permit of the attempt, which is told when the answer ends. */
  readonly permit: Permit
  readonly charge: OpenCharge
  readonly leftOut: readonly string[]
  readonly listener?: AttemptListener | undefined
}

/** An answer being relayed, with its charge and the corrections made to its content. */
export class RelayedAnswer implements PassHooks, HeaderFacts {
  readonly provider: Provider
  readonly providerFormat: Format
  readonly permit: Permit
  readonly charge: OpenCharge
  readonly leftOut: readonly string[]
  readonly listener: AttemptListener | undefined
  readonly context: AnswerContext
  /** Whether the answer may contain hidden reasoning, by the catalogue and the request. */
  readonly mayReason: boolean
  readonly upstreamMs: number
  readonly loweredCap: number | undefined
  /** Collects the provider's signatures, if the client has another format; else undefined. */
  readonly signatures: SignatureCollector | undefined
  private repairs: Set<Repair> | undefined

  constructor(
    readonly deps: RelayDeps,
    readonly client: Client,
    { providerFormat, permit, charge, leftOut, listener }: AnsweringAttempt,
    { context, mayReason, upstreamMs, loweredCap }: Known,
  ) {
    this.provider = permit.planned.target.provider
    this.providerFormat = providerFormat
    this.permit = permit
    this.charge = charge
    this.leftOut = leftOut
    this.listener = listener
    this.context = context
    this.mayReason = mayReason
    this.upstreamMs = upstreamMs
    this.loweredCap = loweredCap
    this.signatures = providerFormat !== client.format && !client.isPrivate ? createSignatureCollector() : undefined
  }

  charged(): Usage {
    return usageNow(this.charge)
  }

  isUsageStated(): boolean {
    return isUsageStated(this.charge)
  }

  crash(): void {
    this.permit.ended(true)
    this.listener?.failed(undefined)
  }

  /** Counts a correction of the answer in the metrics: once per kind of correction, even if many chunks were corrected. */
  repaired(repair: Repair): void {
    this.repairs ??= new Set()
    if (this.repairs.has(repair)) return
    this.repairs.add(repair)
    this.deps.metrics.repaired(this.charge.facts.provider, repair)
  }
}

/** Frees the answer's slot and settles it. Returns the charge once the ledger has it (or soon after). */
export function endAnswer(answer: RelayedAnswer, ending: Ending): Promise<Charge> {
  answer.permit.ended(ending === 'broken')
  answer.client.onEnd()
  return settle(answer.deps, answer.charge, ending)
}

/** Ends and settles the answer of a client that has disconnected. */
export async function leftAlone(answer: RelayedAnswer, ending: Ending): Promise<Response> {
  try {
    await endAnswer(answer, ending)
  } catch (error) {
    answer.crash()
    throw error
  }
  return new Response(null, { status: CLIENT_CLOSED_STATUS })
}

/** Ends an answer and stores its signatures, both before the client can send a request that continues it. */
export function completeAnswer(answer: RelayedAnswer, ending: 'complete' | 'cut' = 'complete'): Promise<Charge> {
  const { deps, client, signatures } = answer
  const settled = endAnswer(answer, ending)
  return signatures ? deps.signatures.keep(client.payer.accountId, signatures).then(() => settled) : settled
}
