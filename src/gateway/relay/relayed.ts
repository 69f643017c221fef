/** An answer on its way to its client: whom it is told and how, where it comes from, and how it ends. */
import type { Provider } from '@/catalog/types'
import type { AnswerContext, Format, Framing, PassHooks } from '@/formats/format'
import type { OpenCharge } from '@/gateway/charge/open-charge'
import { type SettleDeps, settle } from '@/gateway/charge/settle'
import type { SignatureCollector } from '@/gateway/signatures/signature-collector'
import type { SignatureStore } from '@/gateway/signatures/signature-store'
import type { Charge, Ending, SettledAnswer } from '@/ledger/charge'
import type { Permit } from '@/routing/failover/permit'

/** Whom an answer is told. Nothing of the request's body: a stream may live for an hour, and keeps what it can reach. */
export type Client = {
  requestId: string
  accountId: string
  format: Format
  /** How the client wants a stream framed: the format's own way unless the path said otherwise. */
  framing: Framing
  wantsStream: boolean
  /** Fires when the client goes away. */
  signal: AbortSignal
  /** What a complete stream ends in beyond its format's own words; in the framing's text. */
  epilogue: ((answer: SettledAnswer) => string) | undefined
  /** Told when all that there is for the client is known, before its last words are sent. */
  onEnd: (() => void) | undefined
  /**
   * Stores an answer, of which these are the last words, unless it was cut; returns those that the client is told. Never
   * rejects.
   */
  keep: ((lastWords: string, ending: 'complete' | 'cut') => Promise<string>) | undefined
  /** Whether nothing that was said may be kept for requests that build on it. */
  isPrivate: boolean
  /** Told how the answer ended and what it cost, before its last words are sent where it ended well. */
  onSettled?: ((ending: Ending, charge: Charge) => void) | undefined
}

export type RelayedAnswer = {
  client: Client
  provider: Provider
  providerFormat: Format
  /** The attempt that this answer came of; told how the answer ends. */
  permit: Permit
  charge: OpenCharge
  /** Whether the model may have reasoned unseen, going by the catalogue and by what was asked for. */
  mayReason: boolean
  context: AnswerContext
  /** What is charged, for whoever tells the client; and whom to tell of repairs. */
  hooks: PassHooks
  /** Notes what the provider signed, where the client speaks another format; undefined where it does not. */
  signatures: SignatureCollector | undefined
}

/** Gives the answer's slot back and settles it. Returns the charge once the ledger knows it (or soon after). */
export function endAnswer(deps: SettleDeps, answer: RelayedAnswer, ending: Ending): Promise<Charge> {
  answer.permit.ended(ending === 'broken')
  answer.client.onEnd?.()
  return settle(deps, answer.charge, ending).then((charge) => {
    answer.client.onSettled?.(ending, charge)
    if (ending === 'complete' && charge.kind === 'charge') answer.permit.wrote(charge.usage.output)
    return charge
  })
}

/**
 * Ends an answer that its client gets the end of, and keeps its signatures: both before the client can ask anything that builds
 * on it.
 */
export function completeAnswer(
  deps: SettleDeps & { signatures: Pick<SignatureStore, 'keep'> },
  answer: RelayedAnswer,
  ending: 'complete' | 'cut' = 'complete',
): Promise<Charge> {
  const { client, signatures } = answer
  const settled = endAnswer(deps, answer, ending)
  return signatures ? deps.signatures.keep(client.accountId, signatures).then(() => settled) : settled
}
