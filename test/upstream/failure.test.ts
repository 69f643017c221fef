/** What a caller is told of a provider's error: the right kind and status, and no secret of the provider. */
import { describe, expect, test } from 'bun:test'
import { providerOf } from '@test/routing/world'
import type { ErrorKind, GatewayError } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { ProviderErrorReason } from '@/chat/provider-error'
import { FORMATS } from '@/formats/index'
import { providerError } from '@/formats/provider-error'
import type { JsonValue } from '@/lib/json'
import { describeFailure, toGatewayError } from '@/upstream/failure'

const provider = providerOf('p1', { keys: [{ id: 'k1', secret: 'canary-of-this-test', weight: 1 }] })

function told(format: FormatName, status: number, body: JsonValue): GatewayError {
  const error = FORMATS.get(format)?.decodeError(status, body)
  return toGatewayError(
    { kind: 'refused', error: error ?? providerError({ status, kind: '', message: '' }) },
    provider,
    false,
  )
}

const openAi = (message: string, code: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param: 'messages', code },
})
const anthropic = (message: string) => ({ type: 'error', error: { type: 'invalid_request_error', message } })
const google = (message: string) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } })

describe('a prompt that is too long for the provider’s model', () => {
  const cases: [format: FormatName, status: number, body: JsonValue][] = [
    ['chat-completions', 400, openAi('Your input exceeds the limits.', 'context_length_exceeded')],
    ['chat-completions', 400, openAi("This model's maximum context length is 8192 tokens. You sent 9000.")],
    ['chat-completions', 422, openAi('the request exceeds the available context size', 'exceed_context_size_error')],
    ['messages', 400, anthropic('prompt is too long: 210000 tokens > 200000 maximum')],
    ['messages', 400, anthropic('input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000')],
    ['messages', 413, anthropic('Prompt is too long')],
    ['generate-content', 400, google('The input token count (1200000) exceeds the maximum number of tokens allowed')],
    ['generate-content', 400, google('The input token count exceeds the maximum number of tokens allowed 1048576.')],
  ]
  test.each(cases)(
    'a prompt that is too long for the provider’s model gets its own error kind: %s %d %j',
    (format, status, body) => {
      const error = told(format, status, body)
      expect([error.kind, error.status]).toEqual(['context_length_exceeded', 400])
      expect(error.message).toStartWith('The prompt is too long for the model: ')
    },
  )

  test('a prompt that is too long is also recognized by its code inside a stream', () => {
    const error = providerError({ status: 502, kind: 'context_length_exceeded', message: 'too long' })
    expect(toGatewayError({ kind: 'refused', error }, provider, false).kind).toBe('context_length_exceeded')
    const inWords = providerError({ status: 502, kind: 'invalid_request_error', message: 'prompt is too long: 2 > 1' })
    expect(toGatewayError({ kind: 'refused', error: inWords }, provider, false).kind).toBe('context_length_exceeded')
  })

  test.each([...FORMATS.values()])(
    'a prompt that is too long for the provider’s model has the words of the caller’s format',
    (format) => {
      const { status, body } = format.encodeError(
        told('messages', 400, anthropic('prompt is too long: 2 > 1')),
        'req_1',
      )
      expect(status).toBe(400)
      const words = {
        'chat-completions': '"context_length_exceeded"',
        'generate-content': '"CONTEXT_LENGTH_EXCEEDED"',
        responses: '"context_length_exceeded"',
      }
      expect(JSON.stringify(body)).toContain(format.name === 'messages' ? 'prompt is too long' : words[format.name])
    },
  )

  test('S13: an error never contains our key', () => {
    const { message } = told('messages', 400, anthropic('prompt is too long for canary-of-this-test'))
    expect(message).toContain('[redacted]')
    expect(message).not.toContain('canary')
  })
})

test.each([
  ['invalid_request', 400, openAi('max_tokens is too long for us')],
  ['invalid_request', 422, openAi('temperature must be at most 2')],
  ['too_large', 413, openAi('Request body exceeds 32 MB')],
  ['upstream_failed', 500, openAi('prompt is too long')],
  ['overloaded', 429, openAi('Limit 30000 tokens per minute; the prompt is too long for that')],
])('an error of the provider keeps its kind: %s %d', (kind, status, body) => {
  expect(told('chat-completions', status, body).kind as string).toBe(kind)
})

describe('the error text for the caller', () => {
  const REASONS: Record<ProviderErrorReason, ErrorKind> = {
    credentials: 'upstream_failed',
    forbidden: 'upstream_failed',
    'rate-limited': 'overloaded',
    'over-limit': 'too_large',
    overloaded: 'overloaded',
    'context-too-long': 'context_length_exceeded',
    'too-large': 'too_large',
    proof: 'invalid_request',
    filtered: 'invalid_request',
    unsupported: 'invalid_request',
    request: 'invalid_request',
    'model-not-found': 'upstream_failed',
    timeout: 'timeout',
    server: 'upstream_failed',
    'failed-on-length': 'upstream_failed',
    unexpected: 'upstream_failed',
  }
  const WORDS = 'these very words'

  function toldOf(
    reason: ProviderErrorReason,
    more: { message?: string; retryAfterSeconds?: number } = {},
  ): GatewayError {
    const error = { reason, status: 400, kind: '', message: WORDS, ...more }
    return toGatewayError({ kind: 'refused', error }, provider, false)
  }

  test.each(Object.entries(REASONS) as [ProviderErrorReason, ErrorKind][])(
    'the provider’s error %s becomes the caller’s error %s',
    (reason, kind) => {
      expect(toldOf(reason).kind).toBe(kind)
    },
  )

  test('a caller gets the provider’s error text only if it is about the request', () => {
    const quoted = (Object.keys(REASONS) as ProviderErrorReason[]).filter((reason) =>
      toldOf(reason).message.includes(WORDS),
    )
    expect(quoted).toEqual(['context-too-long', 'proof', 'filtered', 'unsupported', 'request'])
  })

  test('the caller’s error says if the provider gave no reason', () => {
    expect(toldOf('request', { message: '' }).message).toEndWith('refused the request: no reason given')
    expect(toldOf('context-too-long', { message: '' }).message).toEndWith('too long for the model: no figures given')
  })

  test('the error’s retry-after is the provider’s value, or one second', () => {
    expect(toldOf('rate-limited', { retryAfterSeconds: 34.4 }).options.retryAfterSeconds).toBe(34.4)
    expect(toldOf('overloaded').options.retryAfterSeconds).toBe(1)
    expect(toldOf('server', { retryAfterSeconds: 34.4 }).options.retryAfterSeconds).toBeUndefined()
  })

  test.each([
    ['upstream_failed', { kind: 'unreachable', detail: 'ConnectionRefused' }],
    ['upstream_failed', { kind: 'malformed', detail: 'answer is not JSON' }],
    ['upstream_failed', { kind: 'broken', detail: 'ECONNRESET' }],
    ['timeout', { kind: 'timeout', phase: 'idle' }],
  ] as const)('the caller’s error %s for %j has no details of the failure', (kind, failure) => {
    const error = toGatewayError(failure, provider, false)
    expect(error.kind).toBe(kind)
    expect(error.message).not.toMatch(/Refused|JSON|ECONN|idle/)
    expect(error.options.cause).toBe(describeFailure(failure, provider))
  })

  test('a long error text is shortened', () => {
    const { message } = toldOf('request', { message: 'w'.repeat(100_000) })
    expect(message.length).toBeLessThan(700)
    expect(message).toEndWith('…')
  })

  test('S13: an error never contains a header from the catalogue, in any form', () => {
    const headers = { 'x-team': 'team-of-seven', 'x-mode': 'fast' }
    const error = { reason: 'request', status: 400, kind: '', message: 'team-of-seven may not be fast' } as const
    const { message } = toGatewayError({ kind: 'refused', error }, providerOf('p2', { headers }), false)
    expect(message).toEndWith(': [redacted] may not be fast')
  })
})

describe('the error text in the log', () => {
  test.each([
    [{ kind: 'timeout', phase: 'first-byte' }, 'p1: first-byte timeout'],
    [{ kind: 'unreachable', detail: 'ConnectionRefused' }, 'p1: unreachable: ConnectionRefused'],
    [{ kind: 'malformed', detail: 'answer is not JSON' }, 'p1: malformed: answer is not JSON'],
    [{ kind: 'broken', detail: 'ECONNRESET' }, 'p1: broken: ECONNRESET'],
  ] as const)('the log text of %j is: %s', (failure, line) => {
    expect(describeFailure(failure, provider)).toBe(line)
  })

  test('the log has a refusal’s status, kind and text, but no secret', () => {
    const error = providerError({ status: 401, kind: 'invalid_api_key', message: 'wrong key canary-of-this-test' })
    expect(describeFailure({ kind: 'refused', error }, provider)).toBe('p1: 401 invalid_api_key: wrong key [redacted]')
  })
})
