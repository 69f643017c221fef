/** An answer is whole or streamed as the client requested, whatever the provider sends. */
import { describe, expect, test } from 'bun:test'
import { createTestAnswer, createTestSource, itemsOf } from '@test/gateway/answer-parts'
import { chatChunk } from '@test/support/upstream'
import type { ChatResponse } from '@/chat/response'
import { ZERO_USAGE } from '@/chat/usage'
import { relay } from '@/gateway/relay/relay'
import type { SignatureCollector } from '@/gateway/signatures/signature-collector'

const RESPONSE: ChatResponse = {
  ...{ id: 'x', created: 0, model: 'm', usage: { ...ZERO_USAGE, uncached: 10, output: 5 } },
  choices: [
    {
      index: 0,
      finish: { kind: 'tool-calls' },
      content: [
        { type: 'text', text: 'Hello' },
        {
          type: 'tool-call',
          id: 'call_1',
          name: 'add',
          argumentsText: '{}',
          signature: { format: 'messages', value: 's' },
        },
      ],
    },
  ],
}

const complete = (raw?: string) => ({
  kind: 'complete' as const,
  response: RESPONSE,
  raw: raw === undefined ? undefined : { text: raw, json: JSON.parse(raw) },
})

describe('an answer in one piece', () => {
  test('a whole answer is settled before it is sent, and its header has the cost', async () => {
    const answer = createTestAnswer({ changes: { wantsStream: false } })
    const usage = '{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}'
    const raw = `{"model":"alpha-upstream",  "own": [1],"id":"x","object":"chat.completion","created":5,"usage":${usage}}`
    const response = await relay(complete(raw), answer)
    expect(response.headers.get('x-svc-cost-usd')).toBe('0.00003')
    expect(answer.told).toMatchObject({ costs: [30_000], ended: [false], counted: [{ ending: 'complete' }] })
    expect(await response.text()).toBe(raw.replace('alpha-upstream', 'svc/alpha'))
    expect(answer.told.repairs).toEqual([])
  })

  test('a whole answer is encoded anew if formats differ, or if a stream was folded', async () => {
    const folded = createTestAnswer({ changes: { wantsStream: false } })
    folded.charge.meter.observeResponse(RESPONSE)
    for (const answer of [folded, createTestAnswer({ provider: 'messages', changes: { wantsStream: false } })]) {
      const begun = answer === folded ? complete() : complete('{"type":"message"}')
      const body = (await (await relay(begun, answer)).json()) as Record<string, unknown>
      expect(body).toMatchObject({ object: 'chat.completion', model: 'svc/alpha', usage: { completion_tokens: 5 } })
      expect(answer.told.costs).toEqual([30_000])
    }
  })

  test('a whole answer becomes a stream for a client that requested one', async () => {
    const answer = createTestAnswer()
    const text = await (await relay(complete('{}'), answer)).text()
    expect(text).toContain('"content":"Hello"')
    expect(text).toEndWith('data: [DONE]\n\n')
    expect(answer.told.costs).toEqual([30_000])
  })

  test('signatures are stored for a client whose format has no field for them, and for no other', async () => {
    const kept: [string, string[]][] = []
    for (const provider of ['messages', 'chat-completions'] as const) {
      const answer = createTestAnswer({ provider, changes: { wantsStream: false } })
      const signatures = {
        keep: async (accountId: string, collector: SignatureCollector) =>
          void kept.push([accountId, [...collector.signedCalls().keys()]]),
      }
      Object.assign(answer.deps, { signatures })
      await relay(complete('{}'), answer)
    }
    expect(kept).toEqual([['acct_1', ['call_1']]])
  })

  test('if a whole answer cannot be encoded, its slot is freed and the answer counts as broken', async () => {
    const answer = createTestAnswer({ changes: { wantsStream: false } })
    answer.charge.hold.settle = () => Promise.reject(new Error('bug'))
    await expect(relay(complete('{}'), answer)).rejects.toThrow('bug')
    expect(answer.told.ended).toContain(true)
  })
})

test('a stream starts with the buffered events', async () => {
  const answer = createTestAnswer()
  const source = createTestSource()
  source.give({ kind: 'failed', failure: { kind: 'broken', detail: 'over' } })
  const held = itemsOf(answer.providerFormat, chatChunk({ content: 'first ' }))
  const response = await relay({ kind: 'stream', source, held, pending: undefined }, answer)
  expect(await response.text()).toContain('first ')
})

test('a client that disconnected before an answer is charged by what the provider had received and sent', async () => {
  const begun = createTestAnswer()
  const response = await relay({ kind: 'abandoned', hasSent: true }, begun)
  expect([response.status, await response.text()]).toEqual([499, ''])
  expect(begun.told).toMatchObject({ costs: [20_000], settled: [{ rule: 'disconnect_counted', status: 499 }] })
  const silent = createTestAnswer()
  await relay({ kind: 'abandoned', hasSent: false }, silent)
  expect(silent.told).toMatchObject({
    ...{ costs: [20_000], settled: [{ rule: 'hangup_input', status: 499 }], failed: ['req_1 499'] },
    ...{ counted: [{ ending: 'unanswered', status: 499 }], thrownAway: ['hang_up undefined'] },
  })
  const unreached = createTestAnswer()
  await relay({ kind: 'abandoned', hasSent: false, isUnreached: true }, unreached)
  expect(unreached.told).toMatchObject({ costs: [], released: 1, failed: [], thrownAway: [] })
})
