/** The items of a conversation, decoded as turns: order, roles, and the call that an output answers. */
import { describe, expect, test } from 'bun:test'
import { decodeRequest } from '@/formats/responses/client-side/decode-request'
import { decodeTurns } from '@/formats/responses/client-side/decode-turns'
import type { JsonObject } from '@/lib/json'

function decode(...input: JsonObject[]) {
  return decodeTurns({ input })
}

const USER = { role: 'user', content: 'Hi' }
const CALL = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }
const OUTPUT = { type: 'function_call_output', call_id: 'c1', output: 'ok' }
const HUB_CALL = { type: 'tool-call', id: 'c1', name: 'f', argumentsText: '{}' }

describe('messages', () => {
  test('the first system messages become the prompt, later ones turns', () => {
    const { system, turns } = decodeRequest({
      model: 'm',
      instructions: 'One',
      input: [
        { role: 'developer', content: 'Two' },
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Three' }] },
        USER,
        { role: 'developer', content: 'Four' },
      ],
    })
    expect(system.map(({ text }) => text)).toEqual(['One', 'Two', 'Three'])
    expect(turns.map(({ role }) => role)).toEqual(['user', 'system'])
  })

  test('a message may have content parts of either the responses or the chat-completions format', () => {
    const content = [
      { type: 'input_text', text: 'Look', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } },
      { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'low' },
      { type: 'input_image', image_url: 'https://host/a.png' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' },
      { type: 'input_file', filename: 'a.csv', file_data: 'aGk=' },
      { type: 'input_file', file_url: 'https://host/a.pdf' },
      { type: 'input_audio', input_audio: { data: 'aGk=', format: 'mp3' } },
      { type: 'text', text: 'there' },
      { type: 'image_url', image_url: { url: 'https://host/b.png', detail: 'high' } },
      { type: 'input_image', file_id: 'file_1' },
    ]
    expect(decode({ role: 'user', content }).turns[0]?.content as unknown).toEqual([
      { type: 'text', text: 'Look', cache: { ttl: '1h' } },
      { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'aGk=' }, detail: 'low' },
      { type: 'image', source: { type: 'url', url: 'https://host/a.png' } },
      { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'aGk=' }, filename: 'a.pdf' },
      { type: 'file', source: { type: 'base64', mediaType: 'text/csv', data: 'aGk=' }, filename: 'a.csv' },
      { type: 'file', source: { type: 'url', url: 'https://host/a.pdf' } },
      { type: 'audio', mediaType: 'audio/mpeg', data: 'aGk=' },
      { type: 'text', text: 'there' },
      { type: 'image', source: { type: 'url', url: 'https://host/b.png' }, detail: 'high' },
      { type: 'image', source: { type: 'file-id', id: 'file_1', format: 'responses' } },
    ])
  })

  test('successive assistant messages and calls are one turn', () => {
    const message = {
      type: 'message',
      role: 'assistant',
      id: 'msg_1',
      status: 'completed',
      phase: 'commentary',
      content: [
        { type: 'output_text', text: 'So', annotations: [] },
        { type: 'refusal', refusal: 'No' },
      ],
    }
    expect(decode(USER, message, CALL).turns[1]?.content as unknown).toEqual([
      { type: 'text', text: 'So' },
      { type: 'refusal', text: 'No' },
      HUB_CALL,
    ])
  })

  test('messages of another agent become user messages', () => {
    const { turns } = decode({ type: 'agent_message', content: [{ type: 'input_text', text: 'Done' }] })
    expect(turns as unknown).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Done' }] }])
  })
})

describe('calls', () => {
  test('calls of custom tools and of namespaces are function calls with one name', () => {
    const { turns } = decode(
      { ...CALL, namespace: 'ns' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'a "b"' },
      OUTPUT,
      { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'done' }] },
    )
    expect(turns as unknown).toEqual([
      {
        role: 'assistant',
        content: [
          { ...HUB_CALL, name: 'ns__f' },
          { type: 'tool-call', id: 'c2', name: 'patch', argumentsText: '{"input":"a \\"b\\""}' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool-result', callId: 'c1', name: 'ns__f', content: [{ type: 'text', text: 'ok' }], isError: false },
          {
            type: 'tool-result',
            callId: 'c2',
            name: 'patch',
            content: [{ type: 'text', text: 'done' }],
            isError: false,
          },
        ],
      },
    ])
  })

  test('outputs of tool calls directly follow their calls', () => {
    const said = { role: 'assistant', content: 'Wait' }
    const second = { ...CALL, call_id: 'c2' }
    const { turns } = decode(USER, CALL, said, second, OUTPUT, { ...OUTPUT, call_id: 'c2' }, USER)
    expect(turns.map(({ role, content }) => [role, ...content.map(({ type }) => type)])).toEqual([
      ['user', 'text'],
      ['assistant', 'tool-call', 'tool-call'],
      ['user', 'tool-result', 'tool-result'],
      ['assistant', 'text'],
      ['user', 'text'],
    ])
  })

  test('tool calls without an output are dropped', () => {
    const { turns } = decode(CALL, { role: 'assistant', content: 'Well' }, USER)
    expect(turns.map(({ role, content }) => [role, content.length])).toEqual([
      ['assistant', 2],
      ['user', 1],
    ])
  })

  test('outputs without an id answer tool calls in order', () => {
    const { turns } = decode(
      CALL,
      { ...CALL, call_id: 'c2' },
      { ...OUTPUT, call_id: 'c2' },
      { ...OUTPUT, call_id: null },
    )
    const ids = turns[1]?.content.map((block) => block.type === 'tool-result' && block.callId)
    expect(ids).toEqual(['c2', 'c1'])
  })
})

describe('reasoning', () => {
  test('reasoning sent back by a client keeps its provider’s encrypted content', () => {
    const own = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      encrypted_content: 'abc',
    }
    const foreign = {
      type: 'reasoning',
      id: 'rs_2',
      summary: [],
      content: null,
      encrypted_content: 'svc1.messages.sig',
    }
    const redacted = { ...foreign, encrypted_content: 'svc1.messages.redacted.data' }
    const lost = { type: 'reasoning', id: 'rs_3', summary: [] }
    expect(decode(USER, own, foreign, redacted, lost, CALL).turns[1]?.content as unknown).toEqual([
      { type: 'reasoning', text: 'Hm.', signature: { format: 'responses', value: 'rs_1:abc' } },
      { type: 'reasoning', text: '', signature: { format: 'messages', value: 'sig' } },
      { type: 'reasoning', text: '', redacted: { format: 'messages', value: 'data' } },
      HUB_CALL,
    ])
  })

  test('encrypted reasoning that belongs to the next call is attached to that call', () => {
    const proof = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'svc1.generate-content.call.c2ln' }
    const signature = { format: 'generate-content', value: 'c2ln' }
    expect(decode(USER, proof, CALL, { ...CALL, call_id: 'c2' }).turns[1]?.content as unknown).toEqual([
      { ...HUB_CALL, signature },
      { ...HUB_CALL, id: 'c2' },
    ])
  })
})

describe('items of a provider', () => {
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
  const compaction = { type: 'compaction', encrypted_content: 'abc' }

  test('provider items that the answer does not need are only sent to providers of this format, and counted', () => {
    const request = decodeRequest({ model: 'm', input: [USER, search, { role: 'assistant', content: 'So' }] })
    expect(request.turns).toHaveLength(2)
    expect(request.nativeOnly).toBeUndefined()
    expect(request.extensions.responses?.input).toEqual([search])
  })

  test.each([compaction, { type: 'shell_call', call_id: 'a' }, { type: 'unheard_of' }])(
    'a conversation that needs a provider’s item only goes to a provider of this format: %j',
    (item) => {
      const { nativeOnly } = decodeRequest({ model: 'm', input: [USER, item] })
      expect(nativeOnly).toEqual([`input[1] (${item.type})`])
    },
  )
})
