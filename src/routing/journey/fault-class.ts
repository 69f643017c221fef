/** Sorts what can go wrong with one upstream call by what may be done about it. */
import type { ProviderError } from '@/formats/format'

/** A failed call before its first content, as the caller of the upstream reports it. */
export type AttemptFault =
  | { kind: 'unreachable' | 'malformed' | 'broken' }
  | { kind: 'timeout'; phase: string }
  | { kind: 'refused'; error: ProviderError }
  /** The request cannot be said in the target's format. */
  | { kind: 'unencodable' }

/**
 * `transient` may be gone in a moment; `timeout` likewise, but has cost its time; `rate-limited` the key has to rest;
 * `credentials` the key is no good; `target` this upstream does not know the model; `model` the request is more than this
 * model can take; `request` every model would refuse it.
 */
export type FaultClass = 'transient' | 'timeout' | 'rate-limited' | 'credentials' | 'target' | 'model' | 'request'

/** Words in a provider's refusal that blame the model's limits rather than the request. */
const TOO_LONG =
  /context[ _-]?(?:length|window|limit)|too (?:long|many (?:input )?tokens)|maximum (?:context|number of tokens|input)|token count|exceeds? the (?:maximum|limit|model)|request_too_large/i
/** The same inside a stream that had begun with 200, where no status tells whose fault it is. */
const TOO_LONG_IN_STREAM = /context[ _-]?(?:length|window)|prompt is too long|input token count/i
const UNSUPPORTED =
  /not support|unsupported|does(?:n't| not) (?:support|accept|have access)|not (?:available|enabled|allowed) (?:for|with|on) (?:this|the) model|only supports?|cannot be used with|model[ _](?:not[ _]found|is not)/i

/** Refusals of our key or our bill that some providers put into a 400 or 429. */
const CREDENTIALS =
  /api[ _]key[ _](?:not valid|invalid|expired|is invalid)|credit balance is too low|insufficient_quota/i

/** Sorts a fault. Statuses it does not know count as the target's fault, so that another one is tried. */
export function classify(fault: AttemptFault): FaultClass {
  switch (fault.kind) {
    case 'unreachable':
    case 'malformed':
    case 'broken':
      return 'transient'
    case 'timeout':
      return 'timeout'
    case 'unencodable':
      return 'target'
    case 'refused':
      return classifyRefusal(fault.error)
  }
}

function classifyRefusal({ status, kind, message }: ProviderError): FaultClass {
  const words = `${kind} ${message}`
  if (status === 401 || status === 402 || status === 403) return 'credentials'
  if ((status === 400 || status === 429) && CREDENTIALS.test(words)) return 'credentials'
  if (status === 429) return 'rate-limited'
  if (status === 404) return 'target'
  if (status === 413) return 'model'
  if (status === 400 || status === 422) return blamesModel(words) ? 'model' : 'request'
  if (status === 408 || status === 504) return 'timeout'
  if (status >= 500 && TOO_LONG_IN_STREAM.test(words)) return 'model'
  return status >= 500 || status === 409 || status === 425 ? 'transient' : 'target'
}

function blamesModel(words: string): boolean {
  return TOO_LONG.test(words) || UNSUPPORTED.test(words)
}
