/** InvokeModel: requests equal those of Anthropic’s client for Bedrock, which also reads our test answers. */
import { describe, expect, test } from 'bun:test'
import { arriving, callTarget, targetOfEntry } from '@test/dialects/provider-entry'
import { startUpstream, type UpstreamCall } from '@test/support/upstream'
import { GatewayError } from '@/chat/error'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import { anthropicAt } from './aws-libraries'
import { claudeFrames, errorFrame, exceptionFrame, framed, invokeFrame } from './bedrock-frames'

const AUTH = { type: 'aws', region: 'eu-west-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }
const MODEL = 'anthropic.claude-x-v1:0'
const HI = [{ role: 'user' as const, content: 'Hi' }]

function entryAt(baseUrl: string, more: JsonObject = {}) {
  return { format: 'messages', dialect: 'bedrock-invoke', baseUrl, auth: AUTH, ...more }
}
const dialectOf = (more: JsonObject = {}) => targetOfEntry(entryAt('http://127.0.0.1:1', more)).provider.dialect

function sealed(body: JsonObject, headers: Record<string, string> = {}, more: JsonObject = {}) {
  const enveloped = dialectOf(more).envelope?.({ model: MODEL, max_tokens: 100, messages: HI, ...body }, headers)
  assert(enveloped, 'the dialect has an envelope')
  return enveloped
}

test.each([false, true])(
  'E11: address, query, headers and body are those of Anthropic’s client for Bedrock, streamed: %p',
  async (stream) => {
    const request = { model: MODEL, max_tokens: 100, messages: HI, temperature: 0.5, stream }
    const [theirs] = await arriving((url) => anthropicAt(url).messages.create(request))
    const [ours] = await arriving((url) =>
      callTarget(targetOfEntry(entryAt(url), MODEL), { stream, body: sealed({ ...request }).body }),
    )
    // Theirs leaves the colon as it is, AWS' own does not: both are the same path, and each is signed as it is sent.
    expect(decodeURIComponent(ours?.path ?? '')).toBe(theirs?.path ?? '')
    // Theirs names a later version, of which sampling is no part.
    expect(ours?.body).toEqual({ ...theirs?.body, anthropic_version: 'bedrock-2023-05-31' })
    const told = (call: UpstreamCall | undefined) =>
      ['accept', 'content-type', 'anthropic-version', 'anthropic-beta', 'x-api-key'].map((name) =>
        call?.headers.get(name),
      )
    expect(told(ours)).toEqual(told(theirs))
    expect(ours?.headers.get('authorization')).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\//,
    )
  },
)

test('E11: an ARN is one segment of the path', async () => {
  const arn = 'arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-x-v1:0'
  const [ours] = await arriving((url) => callTarget(targetOfEntry(entryAt(url), arn)))
  expect(ours?.path).toBe(`/model/${encodeURIComponent(arn)}/invoke`)
})

describe('E11: the body', () => {
  test('E11: the body has the API version of the entry', () => {
    expect(sealed({}, {}, { apiVersion: 'bedrock-2026-01-01' }).body.anthropic_version).toBe('bedrock-2026-01-01')
  })

  test('E11: the body has the requested betas', () => {
    const { body, leftOut } = sealed({}, { 'anthropic-beta': 'context-1m-2025-08-07, own-beta' })
    expect(body.anthropic_beta).toEqual(['context-1m-2025-08-07', 'own-beta'])
    expect(leftOut).toEqual([])
    expect(dialectOf().protocolHeaders?.({ 'anthropic-beta': 'x' })).toEqual({})
  })

  test('E11: the body lacks fields that Bedrock refuses, and the caller’s body is unchanged', () => {
    const cached = { type: 'text', text: 'Long', cache_control: { type: 'ephemeral', scope: 'global', ttl: '1h' } }
    const tool = { name: 't', input_schema: { type: 'object' }, eager_input_streaming: true }
    const own = {
      system: [cached],
      tools: [tool],
      messages: [{ role: 'user', content: [cached] }],
      service_tier: 'auto',
    }
    const before = structuredClone(own)
    const { body, leftOut } = sealed(own)
    const kept = { ...cached, cache_control: { type: 'ephemeral', ttl: '1h' } }
    expect(body).toMatchObject({ system: [kept], messages: [{ role: 'user', content: [kept] }] })
    expect(body.tools).toEqual([{ name: 't', input_schema: { type: 'object' } }])
    expect(body.anthropic_beta).toEqual(['fine-grained-tool-streaming-2025-05-14'])
    expect(JSON.stringify(body)).not.toContain('scope')
    expect(leftOut).toEqual(['service_tier'])
    expect(sealed(own, {}, { passFields: ['service_tier'] }).body.service_tier).toBe('auto')
    expect(own).toEqual(before)
  })

  test('E11: a picture given by URL is refused', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
    const nested = { type: 'tool_result', tool_use_id: 't', content: [image] }
    for (const block of [image, nested]) {
      expect(() => sealed({ messages: [{ role: 'user', content: [block] }] })).toThrow(GatewayError)
    }
  })
})

function read(...frames: Uint8Array[]): string {
  const { headers } = framed()
  const reading = dialectOf().readAnswer?.(headers)
  assert(reading?.kind === 'stream', 'it is a stream')
  return frames.map((frame) => reading.push(frame)).join('') + reading.end()
}

describe('an answer of InvokeModel', () => {
  test('our recorded answer is readable by Anthropic’s client for Bedrock', async () => {
    const mock = startUpstream(() => framed(...claudeFrames('Hel', 'lo')))
    const stream = anthropicAt(mock.url).messages.stream({ model: MODEL, max_tokens: 100, messages: HI })
    expect(await stream.finalText()).toBe('Hello')
    expect((await stream.finalMessage()).usage).toMatchObject({ input_tokens: 20, output_tokens: 7 })
    mock.stop()
  })

  test('E15: an answer has the provider’s events, without Bedrock’s metrics', () => {
    const text = read(...claudeFrames('Grüße'))
    expect(text).toContain(
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße"}}\n\n',
    )
    expect(text).toEndWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')
    expect(text).not.toContain('Metrics')
  })

  test('whole answers and server-sent events of InvokeModel are unchanged', () => {
    for (const type of ['application/json', 'text/event-stream']) {
      expect(dialectOf().readAnswer?.(new Headers({ 'content-type': type }))).toBeUndefined()
    }
  })

  test.each([
    ['throttlingException', 'rate_limit_error'],
    ['validationException', 'invalid_request_error'],
    ['internalServerException', 'api_error'],
    ['modelStreamErrorException', 'api_error'],
    ['modelTimeoutException', 'timeout_error'],
    ['serviceUnavailableException', 'overloaded_error'],
    ['unheardOfException', 'api_error'],
  ])('E14: %s in a stream is read as %s, and ends the stream', (exception, type) => {
    const text = read(exceptionFrame(exception, 'Too much'), ...claudeFrames('late'))
    expect(text).toBe(`event: error\ndata: {"type":"error","error":{"type":"${type}","message":"Too much"}}\n\n`)
    expect(read(errorFrame(exception, 'Too much'))).toBe(text)
  })

  test('E13: a corrupted or cut message is an error, and ends the stream', () => {
    const [first = new Uint8Array()] = claudeFrames()
    const changed = Uint8Array.from(first)
    changed[20] = (changed[20] ?? 0) ^ 1
    expect(read(changed, ...claudeFrames('late'))).toMatch(/^event: error\ndata: .*changed/)
    expect(read(first, first.subarray(0, 30))).toMatch(/\nevent: error\ndata: .*cut in the middle/)
  })

  test('E12: messages of unknown types and chunks without an event are skipped', () => {
    expect(read(invokeFrame({ no: 'type' }))).toBe('')
  })
})

describe('E22: an error of InvokeModel', () => {
  const said = (status: number, type: string, message = 'no') =>
    dialectOf().decodeError?.(status, new Headers({ 'x-amzn-errortype': type }), { message })

  test.each([
    [400, 'ValidationException:http://internal.amazon.com/', 'request'],
    [403, 'AccessDeniedException', 'forbidden'],
    [403, 'ExpiredTokenException', 'credentials'],
    [403, 'UnrecognizedClientException', 'credentials'],
    [403, 'InvalidSignatureException', 'credentials'],
    [404, 'ResourceNotFoundException', 'model-not-found'],
    [400, 'ServiceQuotaExceededException', 'rate-limited'],
    [400, 'ConflictException', 'server'],
    [408, 'ModelTimeoutException', 'timeout'],
    [424, 'ModelErrorException', 'server'],
    [424, 'ModelStreamErrorException', 'server'],
    [429, 'ModelNotReadyException', 'overloaded'],
    [429, 'ThrottlingException', 'rate-limited'],
    [503, 'ServiceUnavailableException', 'overloaded'],
    [500, 'InternalServerException', 'server'],
  ] as const)('a Bedrock error %i %s has the reason %s', (status, type, reason) => {
    expect(said(status, type)).toMatchObject({ status, reason, kind: type.split(':')[0] ?? '' })
  })

  test('E22: a Bedrock error’s text shows that a model failed, or that a prompt is too long', () => {
    const words = 'Invocation of model ID x with on-demand throughput isn’t supported.'
    expect(said(400, 'ValidationException', words)).toMatchObject({ reason: 'model-not-found' })
    expect(said(400, 'ValidationException', 'The provided model identifier is invalid.')).toMatchObject({
      reason: 'model-not-found',
    })
    expect(said(400, 'ValidationException', 'Input is too long for requested model.')).toMatchObject({
      reason: 'context-too-long',
    })
  })

  test('E22: a Bedrock error without its header is classified by its body, and signed data is removed', () => {
    const inBody = dialectOf().decodeError?.(429, new Headers(), {
      __type: 'com.amazon#ThrottlingException',
      Message: 'Slow',
    })
    expect(inBody).toMatchObject({ kind: 'ThrottlingException', message: 'Slow' })
    const quoted = said(403, 'InvalidSignatureException', 'should have been x-amz-security-token:canary')
    expect(JSON.stringify(quoted)).not.toContain('canary')
  })
})
