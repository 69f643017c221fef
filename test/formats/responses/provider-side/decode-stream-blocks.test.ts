/** Items that no event announced before the final output. */
import { expect, test } from 'bun:test'
import { answerOf, BEGINNING, completed, textItem } from '@test/formats/responses/support'

test('items that are only in the final output are sent, and no item is sent twice', () => {
  const call = { type: 'function_call', id: 'fc_9', call_id: 'call_9', name: 'find', arguments: '{"a":1}' }
  const text = { type: 'message', id: 'other', content: [{ type: 'output_text', text: 'Hm' }] }
  const another = { type: 'message', id: 'msg_9', content: [{ type: 'output_text', text: 'And' }] }
  const stream = [...BEGINNING, ...textItem(0, ['Hm']), completed([text, call, another])]
  expect(answerOf(stream)).toMatchObject({
    blocks: ['0 text: Hm', '0 tool-call call_9 find: {"a":1}', '0 text: And'],
    finishes: [{ kind: 'tool-calls', raw: 'completed' }],
  })
})
