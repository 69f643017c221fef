/** A provider's error, independent of formats. Only its format's decoder decides the reason. */
import type { JsonObject } from '@/lib/json'

/**
 * Decides failover and the caller's error. `credentials`: our key or account was refused. `forbidden`: a 402 or 403 that may mean our key
 * or the request. `rate-limited`: a rate limit is used up. `over-limit`: this single request exceeds a limit per minute. `overloaded`: the
 * provider is too busy. `context-too-long`: the prompt exceeds the model's context. `too-large`: the request's body is too large. `proof`:
 * the request contains another provider's proofs of reasoning. `filtered`: a content filter refused the request. `unsupported`: the model
 * lacks a requested feature. `request`: every model would refuse it. `model-not-found`: the provider doesn't know the model. `timeout`: the
 * provider gave up waiting. `server`: an internal error. `failed-on-length`: an error that the provider blames on a long prompt; another
 * model may succeed, and the caller is not blamed. `unexpected`: any other status.
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

/** A provider's error, before or inside a stream. `kind` and `message` are its own words, only for the log. */
export type ProviderError = {
  reason: ProviderErrorReason
  status: number
  kind: string
  message: string
  /** The error object as the provider sent it, if in its format. */
  own?: JsonObject
  retryAfterSeconds?: number
  /** By the rate limit headers of a 429: whether anything remains of our limit, which all accounts share. */
  left?: 'nothing' | 'something'
}
