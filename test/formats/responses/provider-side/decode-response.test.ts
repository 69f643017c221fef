/** Complete responses of responses providers, decoded into answers of the hub. */
import { describe, expect, test } from 'bun:test'
import { HUB_USAGE, RESPONSE, USAGE } from '@test/formats/responses/support'
import { decodeResponse } from '@/formats/responses/provider-side/decode-response'
import type { JsonValue } from '@/lib/json'

const message = (...content: JsonValue[]) => ({ type: 'message', id: 'msg_1', role: 'assistant', content })

describe('a response', () => {
  test('a response becomes the blocks of its items', () => {
    const output = [
      { type: 'reasoning', id: 'rs_1', summary: [{ text: 'One.' }, { text: 'Two.' }], encrypted_content: 'proof' },
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Open.' }] },
      { type: 'web_search_call', id: 'ws_1', action: { type: 'search' } },
      message(
        { type: 'output_text', text: 'A' },
        { type: 'refusal', refusal: 'No' },
        { type: 'output_text', text: '' },
      ),
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{"a":1}' },
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'g', input: 'say "hi"' },
      { type: 'function_call', id: 'fc_2', name: '', arguments: '{}' },
      { type: 'image_generation_call', id: 'ig_1', result: 'aGk=' },
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'x' },
    ]
    expect(
      decodeResponse({ ...RESPONSE, created_at: 1_760_000_000.9, status: 'completed', output, usage: USAGE }),
    ).toEqual({
      ...{
        id: 'resp_1',
        created: 1_760_000_000,
        model: 'alpha-2026-01',
        usage: HUB_USAGE,
        toolUses: { web_search: 1 },
      },
      choices: [
        {
          index: 0,
          content: [
            { type: 'reasoning', text: 'One.\n\nTwo.', signature: { format: 'responses', value: 'rs_1:proof' } },
            { type: 'reasoning', text: 'Open.' },
            { type: 'text', text: 'A' },
            { type: 'refusal', text: 'No' },
            { type: 'tool-call', id: 'call_1', name: 'f', argumentsText: '{"a":1}' },
            { type: 'tool-call', id: 'call_2', name: 'g', argumentsText: '{"input":"say \\"hi\\""}' },
            { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'aGk=' } },
          ],
          finish: { kind: 'tool-calls', raw: 'completed' },
        },
      ],
    })
  })

  test('a cut response is marked as incomplete, with its usage', () => {
    const cut = { ...RESPONSE, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage: USAGE }
    expect(decodeResponse({ ...cut, output: [] })).toMatchObject({
      choices: [{ content: [], finish: { kind: 'length', raw: 'max_output_tokens' } }],
      usage: HUB_USAGE,
    })
  })

  test('log probabilities of all texts are joined', () => {
    const [one, two] = [{ token: 'A' }, { token: 'B' }]
    const output = [
      message({ type: 'output_text', text: 'A', logprobs: [one] }, { type: 'output_text', text: 'B', logprobs: [two] }),
    ]
    expect(decodeResponse({ ...RESPONSE, output })?.choices[0]?.logprobs).toEqual({
      content: [one, two],
      refusal: null,
    } as never)
  })

  test('a response may lack every field except its content', () => {
    expect(decodeResponse({ output: [message({ type: 'output_text', text: 'A' })] })).toEqual({
      ...{ id: '', created: 0, model: '', usage: null },
      choices: [{ index: 0, content: [{ type: 'text', text: 'A' }], finish: { kind: 'stop' } }],
    })
  })
})

test.each<[string, JsonValue]>([
  ['an error', { error: { message: 'no' } }],
  ['a response that failed', { ...RESPONSE, status: 'failed', error: null, output: [] }],
  ['an answer of another format', { choices: [] }],
  ['no object', [1]],
])('%s is not read as a response', (_, body) => {
  expect(decodeResponse(body)).toBeUndefined()
})
