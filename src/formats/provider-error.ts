/**
 * Finds the reason of a provider's error, of any format. Statuses and words mean the same in every format, since many addresses
 * belong to another vendor's server. So every decoder calls this file, and no other file reads the words.
 */
import type { ProviderError, ProviderErrorReason } from '@/chat/provider-error'

/** Counts as the status of an error that came without one, inside a stream that had begun with 200: a bad gateway's. */
export const UNSTATED_STATUS = 502

/** Codes of providers that can mean nothing but our key or our bill, whatever status they come with. */
export const CREDENTIALS_CODE =
  /^(?:invalid_api_key|api_key_(?:invalid|expired|service_blocked)|authentication_error|billing_(?:error|not_active)|insufficient_quota|insufficient_(?:balance|credits)|account_(?:deactivated|suspended)|consumer_(?:invalid|suspended)|service_disabled|unsupported_country_region_territory)$/i
/** Sentences that mean the same where no code does; only as the first words, since a provider may quote the request. */
const REFUSES_CREDENTIALS =
  /^(?:(?:incorrect |invalid )?api[ _]key (?:not valid|invalid|expired|is invalid|provided|not found)|your api key does not have permission|your credit balance is too low|insufficient balance|method doesn.t allow unregistered callers)/i
/** Statuses whose meaning such words decide; under others they would be prose. */
const CREDENTIALS_STATUSES: ReadonlySet<number> = new Set([400, 402, 403, 429])

/** A code that says by itself that the prompt is too long, whatever status it comes with. */
const CONTEXT_CODE = /^context_length_exceeded$/i
/** Words of providers whose model cannot take so long a prompt, in the order of the formats and then of others. */
const CONTEXT_TOO_LONG =
  /context_(?:length|window)_exceeded|exceed_context_size|maximum context length|prompt is too long|exceeds? (?:the )?(?:model's )?(?:available )?(?:maximum )?context|input token count\b.{0,40}\bexceeds|input is too long for/i
/** Statuses that judge the request itself, and the one that tells nothing: under others such words may mean a rate or a cause. */
const CONTEXT_STATUSES: ReadonlySet<number> = new Set([400, 413, 422, UNSTATED_STATUS])

/** Words that blame the limits of this model, of its context or its output, rather than the request. */
const OVER_A_LIMIT =
  /context[ _-]?(?:length|window|limit)|too (?:long|many (?:input )?tokens)|maximum (?:context|number of tokens|input)|token count|exceeds? the (?:maximum|limit|model)|request_too_large/i
const UNSUPPORTED =
  /not support|unsupported|does(?:n't| not) (?:support|accept|have access)|not (?:available|enabled|allowed) (?:for|with|on) (?:this|the) model|only supports?|cannot be used with|model[ _](?:not[ _]found|is not)/i
/** A 429 that no waiting helps: the request alone is larger than what a minute allows. */
const OVER_RATE_LIMIT =
  /^request too large\b|^(?:the )?request is too large\b|^extra usage is required for long context/i
/** The same said in figures: `Limit 30000, Requested 34000`. */
const LIMIT_AND_REQUESTED = /\blimit:? (\d{1,12})\b.{0,40}\brequested:? (\d{1,12})\b/i

/** A content filter's own codes and sentences; another provider's filter may think otherwise. */
const FILTERED =
  /content_filter|content_policy_violation|responsibleaipolicyviolation|(?:bio|cyber)_policy|misalignment_policy_violation|(?:content (?:filtering|management|moderation) policy)|blocked by (?:our )?(?:content|safety) filter|flagged as potentially violating/i

/** What another account of the same vendor has encrypted, or its models elsewhere have signed; some say so in a sentence alone. */
const FOREIGN_PROOF =
  /^invalid_encrypted_content$|invalid `?signature`? in `?(?:redacted_)?thinking`?|(?:corrupted|invalid) thought[ _]signature|thought[ _]signature is (?:not valid|invalid)|encrypted[ _]content\b.{0,80}\b(?:could not be (?:verified|decrypted|parsed)|not issued to this caller)/i

/** The prompt's length as the cause of a fault that the provider calls its own. */
const LENGTH_AS_CAUSE = /context[ _-]?(?:length|window)|prompt is too long|input token count/i

/** The error with its reason. */
export function providerError(facts: Omit<ProviderError, 'reason'>): ProviderError {
  return { reason: reasonOf(facts), ...facts }
}

function reasonOf({ status, kind, message }: Omit<ProviderError, 'reason'>): ProviderErrorReason {
  const words = `${kind} ${message}`
  if (status === 401) return 'credentials'
  if (CREDENTIALS_STATUSES.has(status) && (CREDENTIALS_CODE.test(kind) || REFUSES_CREDENTIALS.test(message)))
    return 'credentials'
  if (CONTEXT_CODE.test(kind) || (CONTEXT_STATUSES.has(status) && CONTEXT_TOO_LONG.test(words))) {
    return 'context-too-long'
  }
  switch (status) {
    case 400:
    case 422:
      if (FOREIGN_PROOF.test(kind) || FOREIGN_PROOF.test(message)) return 'proof'
      if (FILTERED.test(words)) return 'filtered'
      return OVER_A_LIMIT.test(words) || UNSUPPORTED.test(words) ? 'unsupported' : 'request'
    case 402:
    case 403:
      return 'forbidden'
    case 404:
      return 'model-not-found'
    case 408:
    case 504:
      return 'timeout'
    case 409:
    case 425:
      return 'server'
    case 413:
      return 'too-large'
    case 429:
      return isOverRateLimit(message) ? 'over-limit' : 'rate-limited'
    case 503:
    case 529:
      return 'overloaded'
    default:
      if (status < 500) return 'unexpected'
      return LENGTH_AS_CAUSE.test(words) ? 'failed-on-length' : 'server'
  }
}

/** Words that a caller could have quoted here excuse a key and accuse none. */
function isOverRateLimit(message: string): boolean {
  if (OVER_RATE_LIMIT.test(message)) return true
  const figures = LIMIT_AND_REQUESTED.exec(message)
  return figures !== null && Number(figures[2]) > Number(figures[1])
}
