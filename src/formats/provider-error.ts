/** Classifies provider errors of all formats by status and text: servers copy each other's errors. Only this file reads error texts. */
import type { ProviderError, ProviderErrorReason } from '@/chat/provider-error'

/** The status assumed for an error without a status, inside a stream that began with 200. */
export const UNSTATED_STATUS = 502

/** Error codes that always concern our key or account, whatever the status. */
export const CREDENTIALS_CODE =
  /^(?:invalid_api_key|api_key_(?:invalid|expired|service_blocked)|authentication_error|billing_(?:error|not_active)|insufficient_quota|insufficient_(?:balance|credits)|account_(?:deactivated|suspended)|consumer_(?:invalid|suspended)|service_disabled|unsupported_country_region_territory)$/i
/** Error texts about our key or account, matched only at the start, since a provider may quote the request. */
const REFUSES_CREDENTIALS =
  /^(?:(?:incorrect |invalid )?api[ _]key (?:not valid|invalid|expired|is invalid|provided|not found)|your api key does not have permission|your credit balance is too low|insufficient balance|method doesn.t allow unregistered callers)/i
/** Only with these statuses are the error texts about our key considered. */
const CREDENTIALS_STATUSES: ReadonlySet<number> = new Set([400, 402, 403, 429])

/** A code for a too long prompt, whatever the status. */
const CONTEXT_CODE = /^context_length_exceeded$/i
/** Texts for a prompt that exceeds the context, by format and then by other providers. */
const CONTEXT_TOO_LONG =
  /context_(?:length|window)_exceeded|exceed_context_size|maximum context length|prompt is too long|exceeds? (?:the )?(?:model's )?(?:available )?(?:maximum )?context|input token count\b.{0,40}\bexceeds|input is too long for/i
/** Only with these statuses are the texts about the context considered; with others they may be about a rate limit. */
const CONTEXT_STATUSES: ReadonlySet<number> = new Set([400, 413, 422, UNSTATED_STATUS])

/** Texts that blame this model's context or output limit rather than the request. */
const OVER_A_LIMIT =
  /context[ _-]?(?:length|window|limit)|too (?:long|many (?:input )?tokens)|maximum (?:context|number of tokens|input)|token count|exceeds? the (?:maximum|limit|model)|request_too_large/i
const UNSUPPORTED =
  /not support|unsupported|does(?:n't| not) (?:support|accept|have access)|not (?:available|enabled|allowed) (?:for|with|on) (?:this|the) model|only supports?|cannot be used with|model[ _](?:not[ _]found|is not)/i
/** A 429 that waiting cannot fix: the single request exceeds the limit per minute. */
const OVER_RATE_LIMIT =
  /^request too large\b|^(?:the )?request is too large\b|^extra usage is required for long context/i
const LIMIT_AND_REQUESTED = /\blimit:? (\d{1,12})\b.{0,40}\brequested:? (\d{1,12})\b/i

/** Codes and texts of content filters; another provider's filter may decide differently. */
const FILTERED =
  /content_filter|content_policy_violation|responsibleaipolicyviolation|(?:bio|cyber)_policy|misalignment_policy_violation|(?:content (?:filtering|management|moderation) policy)|blocked by (?:our )?(?:content|safety) filter|flagged as potentially violating/i

/** Errors about data encrypted by another account, or signed by other models. */
const FOREIGN_PROOF =
  /^invalid_encrypted_content$|invalid `?signature`? in `?(?:redacted_)?thinking`?|(?:corrupted|invalid) thought[ _]signature|thought[ _]signature is (?:not valid|invalid)|encrypted[ _]content\b.{0,80}\b(?:could not be (?:verified|decrypted|parsed)|not issued to this caller)/i

/** Texts of server errors (5xx) that name the prompt's length as the cause. */
const LENGTH_AS_CAUSE = /context[ _-]?(?:length|window)|prompt is too long|input token count/i

/** Classifies a provider's error. */
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

/** The provider may quote such a text from the request. This is harmless: it only means that our key is not at fault. */
function isOverRateLimit(message: string): boolean {
  if (OVER_RATE_LIMIT.test(message)) return true
  const figures = LIMIT_AND_REQUESTED.exec(message)
  return figures !== null && Number(figures[2]) > Number(figures[1])
}
