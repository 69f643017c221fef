/** Sorts what can go wrong with one upstream call by what may be done about it. */
import type { ProviderError, ProviderErrorReason } from '@/chat/provider-error'

/** A failed call before its first content, as the caller of the upstream reports it. */
export type AttemptFault =
  | { kind: 'unreachable' | 'malformed' | 'broken' }
  | { kind: 'timeout'; phase: string }
  | { kind: 'refused'; error: ProviderError }
  /** The request cannot be said in the target's format. */
  | { kind: 'unencodable' }

/**
 * `transient` may be gone in a moment; `timeout` likewise, but has cost its time; `rate-limited` the key has to rest; `over-limit` this request is more than the key's limits allow at all;
 * `credentials` the key is no good; `forbidden` the key or the request is refused, unknown which; `target` this upstream does not know the model; `model` the request is more than this
 * model can take; `filtered` a filter of this provider refused what the request says; `request` every model would refuse it.
 */
export const FAULT_CLASSES = [
  'transient',
  'timeout',
  'rate-limited',
  'over-limit',
  'credentials',
  'forbidden',
  'target',
  'model',
  'filtered',
  'request',
] as const
export type FaultClass = (typeof FAULT_CLASSES)[number]

const CLASS_OF_REASON: Readonly<Record<ProviderErrorReason, FaultClass>> = {
  credentials: 'credentials',
  forbidden: 'forbidden',
  'rate-limited': 'rate-limited',
  'over-limit': 'over-limit',
  overloaded: 'transient',
  'context-too-long': 'model',
  'too-large': 'model',
  proof: 'model',
  filtered: 'filtered',
  unsupported: 'model',
  request: 'request',
  'model-not-found': 'target',
  timeout: 'timeout',
  server: 'transient',
  'failed-on-length': 'model',
  unexpected: 'target',
}

/** Sorts a fault. What is not known to mean anything counts as the target's fault, so that another one is tried. */
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
      return CLASS_OF_REASON[fault.error.reason]
  }
}
