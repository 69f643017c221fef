/** Explanations of billing rules and flags for usage records and filters, worded as in docs/BILLING.md. */
import type { BillingRule, RecordFlag } from '@/ledger/usage-record'

export const RULE_WORDS: Readonly<Record<BillingRule, string>> = {
  usage: 'The answer was complete. You paid for the usage that the provider reported.',
  counted:
    'The answer was complete, but the provider reported no usage. You paid for our own count of the input and of the output that you received.',
  cut_usage:
    'The provider wrote far beyond the output limit of the request, and was stopped. You paid for the last usage it reported, or for what had been relayed where that was more.',
  cut_counted:
    'The provider wrote far beyond the output limit of the request, and was stopped without having reported usage. You paid for our own count of the input and of the output that you received.',
  broken_usage:
    'The provider broke off after its first content. You paid for the last usage it reported, or for what had been relayed where that was more.',
  broken_counted:
    'The provider broke off after its first content without reporting usage. You paid for our own count of the input and of the output that you received.',
  disconnect_usage:
    'The connection to your client ended before the answer did. You paid for the usage that the provider had reported by then, or in the end where we read on for it, or for what had been relayed where that was more.',
  disconnect_counted:
    'The connection to your client ended before the answer did, and the provider had reported no usage. You paid for our own count of the input and of the output up to then.',
  hangup_free:
    'Your client left before the provider had sent anything. You paid nothing: a few times an hour this is free. The tokens of the input count towards your limit per minute.',
  hangup_input:
    'Your client left before the provider had sent anything, more often in this hour than is free. You paid for our own count of the input, which the provider had been sent.',
  expired:
    'The gateway that handled the request stopped before it could settle. You paid for what it had last recorded: at least the input, once a provider had been reached.',
  unreadable: 'The details of this request were lost. You paid what was charged when it ended.',
}

export const FLAG_WORDS: Readonly<Record<RecordFlag, string>> = {
  estimated: 'Some token counts are our own, since the provider did not report the final ones.',
  clamped: 'The provider reported more than the request could have used. You paid for no more than was possible.',
  overrun: 'The request cost more than was left of the amount that was reserved for it.',
  late: 'A correction: the real cost became known after the reservation had expired. The difference was charged or returned.',
  expired: 'The reservation ran out before the gateway settled it.',
  forced: 'The reservation was lost with a server. The cost was charged all the same, once.',
}
