/** Complete answers in the responses format: the same items as in a stream, and every field that clients read. */
import { describe, expect, test } from 'bun:test'
import type { AnswerBlock, ChatResponse, FinishKind } from '@/chat/response'
import { encodeResponse } from '@/formats/responses/client-side/encode-response'
import type { JsonObject } from '@/lib/json'
import { CONTEXT, contextFor, usageOf } from './answers'

function answer(content: AnswerBlock[], kind: FinishKind = 'stop', context = CONTEXT): JsonObject {
  const choices = [{ index: 0, content, finish: { kind } }]
  const response: ChatResponse = {
    id: 'x',
    created: 1,
    model: 'm',
    choices,
    usage: usageOf({ uncached: 3, output: 2 }),
  }
  return encodeResponse(response, context)
}

function items(body: JsonObject): unknown[] {
  return (body.output as JsonObject[]).map(({ id: _, ...item }) => item)
}

test('all kinds of content become items with unique ids', () => {
  const body = answer([
    { type: 'reasoning', text: 'Hm.', signature: { format: 'messages', value: 'sig' } },
    { type: 'reasoning', text: '', redacted: { format: 'messages', value: 'data' } },
    { type: 'text', text: 'Hi' },
    { type: 'refusal', text: 'No' },
    {
      type: 'tool-call',
      id: 'c1',
      name: 'f',
      argumentsText: '',
      signature: { format: 'generate-content', value: 'g' },
    },
    { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'aGk=' } },
    { type: 'text', text: '' },
  ])
  expect(items(body)).toEqual([
    {
      type: 'reasoning',
      status: 'completed',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      encrypted_content: 'svc1.messages.sig',
    },
    { type: 'reasoning', status: 'completed', summary: [], encrypted_content: 'svc1.messages.redacted.data' },
    {
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
    },
    { type: 'message', status: 'completed', role: 'assistant', content: [{ type: 'refusal', refusal: 'No' }] },
    { type: 'reasoning', status: 'completed', summary: [], encrypted_content: 'svc1.generate-content.call.g' },
    { type: 'function_call', status: 'completed', call_id: 'c1', name: 'f', arguments: '{}' },
    { type: 'image_generation_call', status: 'completed', result: 'aGk=' },
  ])
  const ids = (body.output as JsonObject[]).map(({ id }) => String(id))
  expect(ids.map((id) => id.split('_')[0])).toEqual(['rs', 'rs', 'msg', 'msg', 'rs', 'fc', 'ig'])
  expect(new Set(ids).size).toBe(ids.length)
})

test('encrypted reasoning of this format keeps its id', () => {
  const signature = { format: 'responses', value: 'rs_theirs:abc' } as const
  expect(answer([{ type: 'reasoning', text: '', signature }]).output).toMatchObject([
    { id: 'rs_theirs', encrypted_content: 'abc' },
  ])
})

test('every field of a response is present, missing ones as null', () => {
  const body = answer([], 'stop', contextFor({ instructions: 'Be brief', metadata: { a: 'b' } }))
  expect(body).toMatchObject({
    object: 'response',
    created_at: 1_760_000_001,
    status: 'completed',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: 'Be brief',
    metadata: { a: 'b' },
    model: 'svc/alpha',
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    tool_choice: 'auto',
    tools: [],
    truncation: 'disabled',
    usage: { total_tokens: 5 },
  })
  expect(Object.values(body)).not.toContain(undefined)
})

describe('an incomplete answer', () => {
  test('an answer cut by its limit is incomplete, and so is its last item', () => {
    const body = answer(
      [
        { type: 'text', text: 'One' },
        { type: 'tool-call', id: 'c', name: 'f', argumentsText: '{"a' },
      ],
      'length',
    )
    expect(body).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      completed_at: null,
    })
    expect(items(body)).toMatchObject([{ status: 'completed' }, { status: 'incomplete', arguments: '{"a' }])
  })

  test('an answer with a model error has the status failed', () => {
    expect(answer([{ type: 'text', text: 'One' }], 'error')).toMatchObject({
      status: 'failed',
      error: { code: 'server_error' },
    })
  })
})

test('log probabilities are sent with their text', () => {
  const content = [{ token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] }]
  const choice = {
    index: 0,
    content: [{ type: 'text', text: 'Hi' } as const],
    finish: { kind: 'stop' } as const,
    logprobs: { content },
  }
  const body = encodeResponse({ id: 'x', created: 1, model: 'm', choices: [choice], usage: null }, CONTEXT)
  expect(body).toMatchObject({ output: [{ content: [{ logprobs: content }] }], usage: null })
})
