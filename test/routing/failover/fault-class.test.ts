/** The class of each fault of a provider, by status and error text. */
import { expect, test } from 'bun:test'
import { providerError } from '@/formats/provider-error'
import { type AttemptFault, classify, type FaultClass } from '@/routing/failover/fault-class'

function refused(status: number, message = '', kind = ''): AttemptFault {
  return { kind: 'refused', error: providerError({ status, kind, message }) }
}

const cases: [AttemptFault, FaultClass][] = [
  [{ kind: 'unreachable' }, 'transient'],
  [{ kind: 'malformed' }, 'transient'],
  [{ kind: 'broken' }, 'transient'],
  [{ kind: 'unencodable' }, 'target'],
  [{ kind: 'timeout', phase: 'first-byte' }, 'timeout'],
  [refused(500), 'transient'],
  [refused(502), 'transient'],
  [refused(503), 'transient'],
  [refused(529, 'Overloaded', 'overloaded_error'), 'transient'],
  [refused(409), 'transient'],
  [refused(504), 'timeout'],
  [refused(408), 'timeout'],
  [refused(429), 'rate-limited'],
  [refused(429, 'Request too large for this limit'), 'over-limit'],
  [refused(429, 'You exceeded your current quota', 'insufficient_quota'), 'credentials'],
  [refused(401), 'credentials'],
  [refused(402), 'forbidden'],
  [refused(402, 'Insufficient Balance'), 'credentials'],
  [refused(403), 'forbidden'],
  [refused(403, 'Your input was flagged', 'content_policy_violation'), 'forbidden'],
  [refused(403, 'x', 'account_deactivated'), 'credentials'],
  [refused(400, 'API key not valid. Please pass a valid API key.', 'INVALID_ARGUMENT'), 'credentials'],
  [refused(400, 'Your credit balance is too low to access the API'), 'credentials'],
  [refused(404, 'The model does not exist', 'model_not_found'), 'target'],
  [refused(418), 'target'],
  [refused(413), 'model'],
  [refused(400, "This model's maximum context length is 8192 tokens", 'context_length_exceeded'), 'model'],
  [refused(400, 'prompt is too long: 210000 tokens > 200000 maximum'), 'model'],
  [refused(400, 'The input token count (1200000) exceeds the maximum number of tokens allowed'), 'model'],
  [refused(400, "Unsupported parameter: 'top_k' is not supported with this model"), 'model'],
  [refused(422, 'This model does not support image input'), 'model'],
  [refused(502, 'maximum context length is 8192 tokens'), 'model'],
  [refused(502, 'the upstream took too long'), 'transient'],
  [refused(400, 'messages: roles must alternate'), 'request'],
  [refused(422, 'temperature must be at most 2'), 'request'],
  [refused(400), 'request'],
]
test.each(cases)('the fault %j is classified as %s', (fault, expected) => {
  expect(classify(fault)).toBe(expected)
})
