/** One attempt, from the caller's request to the report to its permit. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createTestAnswer, formatOf } from '@test/gateway/answer-parts'
import { memoryLogger } from '@test/ledger/harness'
import { modelOf, providerOf, requestOf } from '@test/routing/world'
import { openSilentAddress } from '@test/support/silent-address'
import { until } from '@test/support/until'
import { chatCompletion, chatStream, eventStream, type ScriptedUpstream, startUpstream } from '@test/support/upstream'
import type { DisconnectPolicy } from '@/catalog/types'
import type { FormatName } from '@/chat/format-name'
import type { ChatRequest } from '@/chat/request'
import { attemptTarget, type StartedAnswer } from '@/gateway/attempt/attempt'
import { createDrainSlots, type DrainSlots } from '@/gateway/attempt/drain-slots'
import { type Failed, type Judge, OpenAttempt } from '@/gateway/attempt/open-attempt'
import { createActiveStreams } from '@/gateway/relay/active-streams'
import { assert } from '@/lib/assert'
import type { Permit } from '@/routing/failover/permit'

let upstream: ScriptedUpstream
let logger: ReturnType<typeof memoryLogger>
let told: string[]
let client: AbortController
let drains: DrainSlots

beforeAll(() => {
  upstream = startUpstream(() => new Response())
})
afterAll(() => upstream.stop())
beforeEach(() => {
  logger = memoryLogger()
  told = []
  client = new AbortController()
  drains = createDrainSlots()
  upstream.calls.length = 0
})

function permitTo(provider: FormatName, onDisconnect?: DisconnectPolicy, address = upstream.url): Permit {
  const baseUrl = `${address}${provider === 'chat-completions' ? '/v1' : ''}`
  const model = modelOf(
    'svc/alpha',
    [providerOf('p', { format: provider, baseUrl, ...(onDisconnect && { onDisconnect }) })],
    { maxOutputTokens: 50 },
  )
  const [target] = model.targets
  const key = target?.provider.keys[0]
  assert(target && key, 'a target and a key')
  return {
    planned: { model, target },
    key,
    number: 3,
    startedMs: 0,
    began: () => void told.push('began'),
    ended: () => void told.push('ended'),
    wrote: () => undefined,
    abandoned: () => void told.push('abandoned'),
    outrun: () => told.push('outrun'),
    failed(fault) {
      told.push(`failed: ${fault.kind}`)
      return { number: 3, fault, milliseconds: 5 }
    },
  }
}

type Asked = {
  from?: FormatName
  to?: FormatName
  onDisconnect?: DisconnectPolicy
  address?: string
  changes?: Partial<ChatRequest>
  body?: Record<string, never>
}

async function attempt({
  from = 'chat-completions',
  to = from,
  onDisconnect,
  address,
  changes = {},
  body = {},
}: Asked = {}) {
  const call = {
    requestId: 'req_1',
    payer: { accountId: 'acc_1', keyId: 'key_1' },
    format: formatOf(from),
    asked: {
      request: requestOf(changes),
      body: { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }], ...body },
      bodyBytes: 100,
    },
    signal: client.signal,
  }
  const { charge } = createTestAnswer({ outputBound: 50 })
  const permit = permitTo(to, onDisconnect, address)
  const { promise, resolve, reject } = Promise.withResolvers<StartedAnswer | ({ kind: 'failed' } & Failed)>()
  const judge: Judge<StartedAnswer> = {
    answered: (_, started) => resolve(started),
    failed: (_, failed) => resolve({ kind: 'failed', ...failed }),
    crashed: reject,
  }
  const opened = new OpenAttempt<StartedAnswer>(permit, formatOf(to), charge, judge)
  await attemptTarget({ logger, drains, streams: createActiveStreams() }, call, call.asked.request, opened)
  return promise
}

describe('the provider’s request', () => {
  test('a provider of the caller’s format gets the caller’s own body with the provider’s model name', async () => {
    upstream.respond(() => Response.json(chatCompletion('Hello')))
    await attempt({ body: { novelty: [1, 2] as never } })
    expect(upstream.calls[0]?.body).toMatchObject({ model: 'alpha-at-p', novelty: [1, 2] })
  })

  test('the requested output limit is at most the model’s, and the hold covers it', async () => {
    upstream.respond(() => Response.json(chatCompletion('Hello')))
    await attempt({ from: 'messages', to: 'chat-completions', changes: { maxOutputTokens: 9_000 } })
    expect(upstream.calls[0]?.body.max_completion_tokens).toBe(50)
  })

  test('fields that the target’s format does not support are omitted and named in the log', async () => {
    upstream.respond(() => Response.json({}))
    await attempt({ to: 'messages', changes: { sampling: { seed: 424_242 } } })
    expect(logger.lines[0]).toMatchObject({
      ...{ event: 'request_features_left_out', fields: { requestId: 'req_1', model: 'svc/alpha', features: ['seed'] } },
    })
    expect(JSON.stringify(logger.lines)).not.toContain('424242')
  })
})

describe('the beginning of an answer', () => {
  test('an attempt succeeds with a whole answer', async () => {
    upstream.respond(() => Response.json(chatCompletion('Hello')))
    expect((await attempt()).kind).toBe('complete')
    expect(told).toEqual(['began'])
  })

  test('an attempt succeeds with a stream once the stream has content', async () => {
    upstream.respond(() => eventStream(...chatStream(['Hi'])))
    expect((await attempt({ changes: { stream: true } })).kind).toBe('stream')
    expect(told).toEqual(['began'])
  })

  test('a provider’s stream becomes a whole answer if the caller requested one', async () => {
    upstream.respond(() => eventStream(...chatStream(['Hi'])))
    expect(await attempt()).toMatchObject({ kind: 'complete', raw: undefined })
  })
})

describe('failures', () => {
  test('a failure is reported to the permit, logged with its reason, and returned with the gateway’s error text', async () => {
    upstream.respond(() => Response.json({ error: { message: 'the key sk-secret-12345678 is bad' } }, { status: 500 }))
    const failed = await attempt()
    expect(failed).toMatchObject({ kind: 'failed', error: { status: 502 }, failed: { milliseconds: 5 } })
    expect(told).toEqual(['failed: refused'])
    expect(logger.lines).toMatchObject([{ event: 'attempt_failed', fields: { requestId: 'req_1', attempt: 3 } }])
    expect(JSON.stringify(logger.lines)).not.toContain('12345678')
  })

  test('a request that the target’s format cannot express fails without a call, and is no fault of the target', async () => {
    const changes: Partial<ChatRequest> = {
      turns: [{ role: 'user', content: [{ type: 'audio', mediaType: 'audio/wav', data: 'AAAA' }] }],
    }
    const failed = await attempt({ to: 'messages', changes })
    expect(failed).toMatchObject({ kind: 'failed', error: { kind: 'invalid_request' } })
    expect(told).toEqual(['failed: unencodable'])
    expect(upstream.calls).toHaveLength(0)
  })
})

describe('a client that disconnects', () => {
  test('if a client disconnects while the provider is silent, the call ends and is no fault of the provider', async () => {
    upstream.respond(() => new Promise(() => {}))
    const waiting = attempt({ changes: { stream: true } })
    await until(() => upstream.calls.length === 1, 'the provider to be asked')
    client.abort()
    expect(await waiting).toEqual({ kind: 'abandoned', hasSent: false })
    expect(told).toEqual(['abandoned'])
    await until(() => upstream.calls[0]?.isAborted, 'the provider to be let go')
  })

  describe('an answer in one piece', () => {
    const READ_ON: DisconnectPolicy = { kind: 'auto', maxMs: 60_000, maxConcurrent: 1 }
    let answer: PromiseWithResolvers<Response>
    let waiting: ReturnType<typeof attempt>

    async function leave(onDisconnect: DisconnectPolicy): Promise<void> {
      answer = Promise.withResolvers()
      upstream.respond(() => answer.promise)
      waiting = attempt({ onDisconnect })
      await until(() => upstream.calls.length === 1, 'the provider to be asked')
      client.abort()
    }

    test('after a disconnect a whole answer is read to its end, which frees the slot', async () => {
      await leave(READ_ON)
      expect(drains.take('p', 'other', 1)).toBeUndefined()
      answer.resolve(Response.json(chatCompletion('Hello')))
      expect((await waiting).kind).toBe('complete')
      expect(drains.take('p', 'other', 1)).toBeDefined()
    })

    test('a whole answer that fails after a disconnect counts as the provider’s fault', async () => {
      await leave(READ_ON)
      answer.resolve(Response.json({ error: { message: 'Oops' } }, { status: 500 }))
      expect(await waiting).toMatchObject({ kind: 'failed', error: { status: 502 } })
    })

    test.each([
      ['the policy is to abort', { kind: 'abort' }],
      ['all slots are taken', { ...READ_ON, maxConcurrent: 0 }],
      ['the answer takes longer than the policy allows', { ...READ_ON, maxMs: 10 }],
    ] as [string, DisconnectPolicy][])('a call is cancelled after a disconnect if %s', async (_, onDisconnect) => {
      await leave(onDisconnect)
      expect(await waiting).toEqual({ kind: 'abandoned', hasSent: false })
      await until(() => upstream.calls[0]?.isAborted, 'the provider to be let go')
      answer.resolve(new Response())
    })
  })

  test('if a client disconnects before the provider accepts the connection, the provider counts as not reached', async () => {
    const silent = await openSilentAddress()
    const waiting = attempt({ address: `http://127.0.0.1:${silent.port}`, changes: { stream: true } })
    client.abort()
    expect(await waiting).toEqual({ kind: 'abandoned', hasSent: false, isUnreached: true })
    await silent.stop()
  })

  test('a client that disconnects before the request is sent gets no attempt', async () => {
    client.abort()
    // Whether somebody has lately been reached at the address is another matter.
    expect(await attempt()).toMatchObject({ kind: 'abandoned', hasSent: false })
    expect(told).toEqual(['abandoned'])
  })
})

test('an exception in our code frees the slot', async () => {
  const changes = { turns: undefined as never }
  await expect(attempt({ to: 'messages', changes })).rejects.toBeInstanceOf(TypeError)
  expect(told).toEqual(['abandoned'])
})

describe('encrypted reasoning of another account of the vendor', () => {
  const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'c', output: 'ok' }
  const body = { messages: undefined, input: [{ role: 'user', content: 'Hi' }, thought, call, output] } as never
  const whole = { id: 'resp_1', object: 'response', status: 'completed', output: [], usage: null }
  const refusals: [string, object][] = [
    ['by its code', { message: 'no', type: 'invalid_request_error', code: 'invalid_encrypted_content', param: null }],
    ['by its text', { message: 'The encrypted content gAAA... could not be verified.', code: null, type: 'x' }],
    ['by another text', { message: 'The encrypted_content was not issued to this caller', code: null }],
  ]

  test.each(refusals)(
    'refused encrypted reasoning of another account, refused %s, is removed, and the target is called once more',
    async (_, error) => {
      upstream.respond((_call, index) =>
        index === 0 ? Response.json({ error }, { status: 400 }) : Response.json(whole),
      )
      const result = await attempt({ from: 'responses', body })
      expect(result.kind).toBe('complete')
      expect(told).toEqual(['began'])
      expect(upstream.calls.map((sent) => sent.body.input)).toEqual([
        [{ role: 'user', content: 'Hi' }, thought, call, output],
        [{ role: 'user', content: 'Hi' }, call, output],
      ])
    },
  )

  test('another account’s encrypted reasoning is also removed from a translated request, and after a stream began', async () => {
    const turns: ChatRequest['turns'] = [
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'S', signature: { format: 'responses', value: 'rs_1:gAAA' } },
          { type: 'text', text: 'A' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'Go on' }] },
    ]
    const error = { type: 'error', code: 'invalid_encrypted_content', message: 'no' }
    const last = { type: 'response.completed', response: whole }
    upstream.respond((_call, index) => eventStream(index === 0 ? error : last))
    const result = await attempt({ to: 'responses', changes: { stream: true, turns } })
    expect(result.kind).toBe('stream')
    expect(upstream.calls.map((sent) => JSON.stringify(sent.body).includes('gAAA'))).toEqual([true, false])
  })

  test('a refused call is repeated only if its request had encrypted reasoning, and only once', async () => {
    const refused = { error: { message: 'no', code: 'invalid_encrypted_content' } }
    upstream.respond(() => Response.json(refused, { status: 400 }))
    expect((await attempt({ from: 'responses', body: { messages: undefined, input: 'Hi' } as never })).kind).toBe(
      'failed',
    )
    expect(upstream.calls).toHaveLength(1)
    upstream.calls.length = 0
    expect((await attempt({ from: 'responses', body })).kind).toBe('failed')
    expect(upstream.calls).toHaveLength(2)
    expect(told).toEqual(['failed: refused', 'failed: refused'])
  })
})
