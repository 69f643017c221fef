/** A provider's error in no format's own words. Its reason is decided only where its format is decoded. */
import type { JsonObject } from '@/lib/json'

/**
 * What may be done about it, and the caller's error.
 * `credentials` our key or our bill was refused; `forbidden` a 402 or 403 that doesn't say whether it means that or the request; `rate-limited` more was asked than a limit leaves; `over-limit` this request alone is more than a limit allows in a minute; `overloaded` all requests have to wait;
 * `context-too-long` the prompt is longer than the model's context; `too-large` so is the request as a whole;
 * `proof` the proofs of earlier reasoning in the request are not its own;
 * `filtered` a filter of this provider refused what the request says; `unsupported` the request asks for more or other than this model gives; `request` every model would refuse it;
 * `model-not-found` the provider does not know the model; `timeout` it gave up waiting; `server` a fault of its own;
 * `failed-on-length` one that its words put down to a long prompt: another model may do better, and the caller is not blamed;
 * `unexpected` a status that says none of these.
 */
export type ProviderErrorReason =
  | 'credentials'
  | 'forbidden'
  | 'rate-limited'
  | 'over-limit'
  | 'overloaded'
  | 'context-too-long'
  | 'too-large'
  | 'proof'
  | 'filtered'
  | 'unsupported'
  | 'request'
  | 'model-not-found'
  | 'timeout'
  | 'server'
  | 'failed-on-length'
  | 'unexpected'

/** A provider's error, before or inside a stream. `kind` and `message` are its words, for the log only. */
export type ProviderError = {
  reason: ProviderErrorReason
  status: number
  kind: string
  message: string
  /** The error object as the provider wrote it, where its answer has one of its format. */
  own?: JsonObject
  retryAfterSeconds?: number
  /** The limits in the headers of a 429: nothing is left for any account, or something is. */
  left?: 'nothing' | 'something'
}
