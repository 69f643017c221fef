/** Classifies errors of an upstream call by the step that helps, such as another key or another target. */
import type { ProviderError, ProviderErrorReason } from '@/chat/provider-error'

export type AttemptFault =
  | { kind: 'unreachable' | 'malformed' | 'broken' }
  | { kind: 'timeout'; phase: string }
  | { kind: 'refused'; error: ProviderError }
  /** The target's format cannot express the request. */
  | { kind: 'unencodable' }

/**
 * `transient`: may be over in a moment. `timeout`: the same, but it has cost time. `rate-limited`: the key needs a pause. `over-limit`: the
 * request exceeds the key's limits. `credentials`: the key is invalid. `forbidden`: the key or the request is refused, it is unknown which.
 * `target`: this upstream doesn't have the model. `model`: the request exceeds this model's abilities. `filtered`: a filter of this
 * provider refused the request's content. `request`: every model would refuse the request.
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

/** Classifies a fault. An unknown fault counts as the target's, so that another target is tried. */
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
