/** The headers of every answer: model and provider, the gateway's overhead, and remaining limits. */
import { expect, test } from 'bun:test'
import { createTestAnswer, formatOf } from '@test/gateway/answer-parts'
import { answerHeaders } from '@/gateway/relay/headers'

test('answer headers have model, provider, reason, attempts, overhead and remaining limits', () => {
  const { charge, clock } = createTestAnswer()
  const overheads: number[] = []
  const deps = { clock, metrics: { overhead: (milliseconds: number) => void overheads.push(milliseconds) } }
  const headers = answerHeaders(deps, formatOf('messages'), charge, {
    upstreamMs: 990.5,
    loweredCap: undefined,
    leftOut: [],
  })
  expect(headers).toMatchObject({
    'x-request-id': 'req_1',
    'x-svc-model': 'svc/alpha',
    'x-svc-provider': 'provider1',
    'x-svc-attempts': '2',
    'x-svc-route-reason': 'requested',
    'x-svc-overhead-ms': '9.500',
    'anthropic-ratelimit-requests-limit': '60',
    'anthropic-ratelimit-tokens-remaining': '59',
  })
  expect(headers).not.toHaveProperty('x-svc-max-output-tokens')
  expect(headers).not.toHaveProperty('x-svc-left-out')
  expect(overheads).toEqual([9.5])
})

test('answer headers have a lowered output limit, and no negative overhead', () => {
  const { charge, clock, deps } = createTestAnswer()
  const told = { upstreamMs: 5_000, loweredCap: 300, leftOut: ['x_one', 'bäd\r\nname'] }
  expect(answerHeaders({ ...deps, clock }, formatOf('chat-completions'), charge, told)).toMatchObject({
    ...{ 'x-svc-max-output-tokens': '300', 'x-svc-overhead-ms': '0.000', 'x-ratelimit-limit-requests': '60' },
    'x-svc-left-out': 'x_one, b?d??name',
  })
})
