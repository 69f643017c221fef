/** The reason of a provider's error, from real error texts, in every format and inside streams. */
import { describe, expect, test } from 'bun:test'
import type { FormatName } from '@/chat/format-name'
import type { ProviderErrorReason } from '@/chat/provider-error'
import { FORMATS } from '@/formats/index'
import { providerError } from '@/formats/provider-error'
import type { JsonValue } from '@/lib/json'

function formatNamed(name: FormatName) {
  const format = FORMATS.get(name)
  if (!format) throw new Error(`no format ${name}`)
  return format
}

function reasonIn(name: FormatName, status: number | undefined, body: JsonValue): ProviderErrorReason {
  return formatNamed(name).decodeError(status, body).reason
}

const openAi = (message: string, code: string | null = null, type = 'invalid_request_error') => ({
  error: { message, type, param: null, code },
})
const anthropic = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011',
})
const google = (code: number, status: string, message: string, details: JsonValue[] = []) => ({
  error: { code, message, status, details },
})
const googleReason = (reason: string) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: 'googleapis.com',
})

type Case = [reason: ProviderErrorReason, status: number, body: JsonValue]

describe('a chat-completions provider', () => {
  const cases: Case[] = [
    [
      'credentials',
      401,
      openAi('Incorrect API key provided: sk-abc***. You can find your API key at …', 'invalid_api_key'),
    ],
    ['credentials', 402, openAi('Insufficient Balance')],
    ['forbidden', 402, openAi('This request requires more credits, or fewer max_tokens')],
    ['forbidden', 403, openAi('Your input was flagged by moderation')],
    ['forbidden', 403, openAi('Input flagged: "incorrect api key provided"')],
    ['request', 400, openAi("Invalid value: 'api key invalid'. Supported values are: 'text'")],
    ['credentials', 403, openAi('Country, region, or territory not supported', 'unsupported_country_region_territory')],
    ['credentials', 429, openAi('You exceeded your current quota, please check your plan', 'insufficient_quota')],
    ['credentials', 400, openAi('API key expired. Please renew the API key.')],
    [
      'rate-limited',
      429,
      openAi('Rate limit reached for gpt-4o in organization org-x on tokens per min', 'rate_limit_exceeded'),
    ],
    ['context-too-long', 400, openAi("This model's maximum context length is 8192 tokens.", 'context_length_exceeded')],
    ['context-too-long', 400, openAi('the request exceeds the available context size', 'exceed_context_size_error')],
    ['context-too-long', 400, openAi('Requested input is too long for this model')],
    ['context-too-long', 413, openAi('context_window_exceeded')],
    ['too-large', 413, openAi('Request body too large')],
    ['unsupported', 400, openAi('max_tokens is too large: 100000. This model supports at most 4096', 'token count')],
    ['unsupported', 400, openAi("Unsupported parameter: 'temperature' is not supported with this model.")],
    ['unsupported', 422, openAi('This model does not support image input')],
    ['request', 400, openAi("Invalid 'messages[1].role'")],
    [
      'model-not-found',
      404,
      openAi('The model `x` does not exist or you do not have access to it.', 'model_not_found'),
    ],
    ['timeout', 408, openAi('Request timed out')],
    ['server', 500, openAi('The server had an error while processing your request.', null, 'server_error')],
    ['server', 409, openAi('The model is being loaded')],
    ['failed-on-length', 500, openAi('litellm.ContextWindowExceededError: prompt is too long')],
    ['overloaded', 503, openAi('The engine is currently overloaded', null, 'server_error')],
    ['unexpected', 418, openAi("I'm a teapot")],
    ['overloaded', 503, google(503, 'UNAVAILABLE', 'The model is overloaded.')],
    ['server', 502, 'upstream connect error or disconnect/reset before headers'],
  ]
  test.each(cases)('a chat-completions error of %s: %d %j', (reason, status, body) => {
    expect(reasonIn('chat-completions', status, body)).toBe(reason)
  })
})

describe('a messages provider', () => {
  const cases: Case[] = [
    ['credentials', 401, anthropic('authentication_error', 'invalid x-api-key')],
    ['credentials', 403, anthropic('permission_error', 'Your API key does not have permission to use the resource')],
    ['forbidden', 403, anthropic('permission_error', 'This content violates our policy')],
    ['credentials', 400, anthropic('invalid_request_error', 'Your credit balance is too low to access the API.')],
    ['rate-limited', 429, anthropic('rate_limit_error', 'This request would exceed your rate limit of 40,000 tokens')],
    ['context-too-long', 400, anthropic('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum')],
    [
      'context-too-long',
      400,
      anthropic('invalid_request_error', 'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000'),
    ],
    ['context-too-long', 413, anthropic('request_too_large', 'Prompt is too long')],
    ['too-large', 413, anthropic('request_too_large', 'Request exceeds the maximum size')],
    [
      'unsupported',
      400,
      anthropic('invalid_request_error', 'max_tokens: 64000 > 8192, which is the maximum number of tokens'),
    ],
    ['unsupported', 400, anthropic('invalid_request_error', '`thinking` is not supported on this model')],
    ['request', 400, anthropic('invalid_request_error', 'messages: roles must alternate')],
    ['model-not-found', 404, anthropic('not_found_error', 'model: claude-x')],
    ['timeout', 504, anthropic('timeout_error', 'The request timed out')],
    ['server', 500, anthropic('api_error', 'Internal server error')],
    ['overloaded', 529, anthropic('overloaded_error', 'Overloaded')],
  ]
  test.each(cases)('a messages error of %s: %d %j', (reason, status, body) => {
    expect(reasonIn('messages', status, body)).toBe(reason)
  })
})

describe('a generate-content provider', () => {
  const cases: Case[] = [
    [
      'credentials',
      400,
      google(400, 'INVALID_ARGUMENT', 'Please pass a valid key.', [googleReason('API_KEY_INVALID')]),
    ],
    ['credentials', 400, google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.')],
    ['credentials', 403, google(403, 'PERMISSION_DENIED', 'Method doesn’t allow unregistered callers')],
    ['forbidden', 403, google(403, 'PERMISSION_DENIED', 'You do not have permission to access the File x')],
    ['credentials', 403, google(403, 'PERMISSION_DENIED', 'x', [googleReason('CONSUMER_SUSPENDED')])],
    ['rate-limited', 429, google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota')],
    [
      'context-too-long',
      400,
      google(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      ),
    ],
    ['unsupported', 400, google(400, 'INVALID_ARGUMENT', 'Function calling is not enabled for this model')],
    ['request', 400, google(400, 'INVALID_ARGUMENT', 'Please use a valid role: user, model.')],
    ['model-not-found', 404, google(404, 'NOT_FOUND', 'models/x is not found for API version v1beta')],
    ['timeout', 504, google(504, 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.')],
    ['server', 500, google(500, 'INTERNAL', 'An internal error has occurred.')],
    ['overloaded', 503, google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.')],
  ]
  test.each(cases)('a generate-content error of %s: %d %j', (reason, status, body) => {
    expect(reasonIn('generate-content', status, body)).toBe(reason)
  })
})

describe('errors inside a stream', () => {
  type StreamCase = [format: FormatName, reason: ProviderErrorReason, status: number, data: JsonValue]
  const cases: StreamCase[] = [
    ['chat-completions', 'server', 502, openAi('boom', null, 'server_error')],
    ['chat-completions', 'context-too-long', 502, openAi('too long', 'context_length_exceeded')],
    ['chat-completions', 'context-too-long', 502, openAi("This model's maximum context length is 8192 tokens.")],
    ['chat-completions', 'failed-on-length', 502, openAi('ran out of the context window')],
    ['chat-completions', 'rate-limited', 429, { error: { message: 'slow down', code: 429 } }],
    ['messages', 'overloaded', 529, anthropic('overloaded_error', 'Overloaded')],
    [
      'messages',
      'context-too-long',
      400,
      anthropic('invalid_request_error', 'prompt is too long: 2 tokens > 1 maximum'),
    ],
    ['messages', 'credentials', 401, anthropic('authentication_error', 'invalid x-api-key')],
    ['messages', 'server', 502, anthropic('unheard_of_error', 'boom')],
    ['generate-content', 'rate-limited', 429, google(429, 'RESOURCE_EXHAUSTED', 'Quota')],
    ['generate-content', 'credentials', 401, google(400, 'INVALID_ARGUMENT', 'x', [googleReason('API_KEY_INVALID')])],
    ['generate-content', 'server', 502, { error: { message: 'boom' } }],
  ]
  test.each(cases)('an error inside a stream of %s: %s', (name, reason, status, data) => {
    const event = { event: undefined, data: JSON.stringify(data), raw: '' }
    const [failed] = formatNamed(name).createStreamDecoder().push(event, data)
    expect(failed).toMatchObject({ type: 'error', error: { reason, status } })
  })

  test('an error keeps its waiting time', () => {
    const data = google(429, 'RESOURCE_EXHAUSTED', 'Quota', [{ retryDelay: '34.4s' }])
    const event = { event: undefined, data: JSON.stringify(data), raw: '' }
    for (const name of ['chat-completions', 'generate-content'] as const) {
      const [failed] = formatNamed(name).createStreamDecoder().push(event, data)
      expect(failed).toMatchObject({ error: { reason: 'rate-limited', retryAfterSeconds: 34.4 } })
    }
  })
})

describe('error texts', () => {
  const TOO_LONG = 'prompt is too long: 2 tokens > 1 maximum'

  test.each([
    [429, 'rate-limited'],
    [503, 'overloaded'],
    [529, 'overloaded'],
    [504, 'timeout'],
    [404, 'model-not-found'],
    [500, 'failed-on-length'],
  ] as const)('a %d whose text mentions a long prompt is classified as %s', (status, reason) => {
    expect(providerError({ status, kind: '', message: TOO_LONG }).reason).toBe(reason)
  })

  test('a refusal of our key is classified as such, whatever else its text contains', () => {
    expect(providerError({ status: 401, kind: 'context_length_exceeded', message: TOO_LONG }).reason).toBe(
      'credentials',
    )
    expect(providerError({ status: 400, kind: '', message: `API key expired; ${TOO_LONG}` }).reason).toBe('credentials')
  })

  test('a server error is not classified as a refusal of our key', () => {
    expect(providerError({ status: 500, kind: 'insufficient_quota', message: 'API key not valid' }).reason).toBe(
      'server',
    )
  })

  test('an error is only classified as a model’s limit if it refuses the request', () => {
    expect(providerError({ status: 500, kind: '', message: 'not supported' }).reason).toBe('server')
    expect(providerError({ status: 418, kind: '', message: 'not supported' }).reason).toBe('unexpected')
  })
})

test.each([
  [
    'over-limit',
    'Request too large for gpt-x in organization org-1 on tokens per min (TPM): Limit 30000, Requested 34041.',
  ],
  [
    'over-limit',
    'Rate limit reached for x on tokens per min (TPM): Limit 6000, Requested 6001. Please try again later.',
  ],
  ['over-limit', 'Extra usage is required for long context requests.'],
  ['rate-limited', 'Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.'],
  ['rate-limited', 'Too many requests, among them "Request too large"'],
] as const)('a 429 is classified as %s if its text is: %s', (reason, message) => {
  expect(providerError({ status: 429, kind: 'rate_limit_exceeded', message }).reason).toBe(reason)
  expect(providerError({ status: 503, kind: '', message }).reason).toBe('overloaded')
})

test('classifying an error changes nothing else of it', () => {
  const facts = { status: 429, kind: 'slow', message: 'words', retryAfterSeconds: 2 }
  expect(providerError(facts)).toEqual({ reason: 'rate-limited', ...facts })
})
