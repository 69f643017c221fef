/** Properties for random requests: a request is decoded or refused, never changed, and a decoded one can be sent and answered. */
import { expect, test } from 'bun:test'
import { traitsWith } from '@test/formats/responses/support'
import { fc } from '@test/support/property'
import { GatewayError } from '@/chat/error'
import { responses } from '@/formats/responses/index'
import type { JsonObject, JsonValue } from '@/lib/json'
import { CONTEXT } from './answers'

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>
/** Mostly what it should be: a request of nothing but nonsense is refused for the first of it. */
function mostly<T>(sound: fc.Arbitrary<T>): fc.Arbitrary<T | JsonValue> {
  return fc.oneof({ weight: 30, arbitrary: sound }, { weight: 1, arbitrary: json })
}

const word = mostly(fc.constantFrom('a', 'f', '{}', 'rs_1', 'svc1.messages.x', 'svc1.'))
const text = fc.constant('hi')
const part = fc.oneof(
  fc.record({ type: fc.constantFrom('input_text', 'output_text'), text: mostly(text) }),
  fc.record({ type: fc.constant('refusal'), refusal: mostly(text) }),
  fc.record({
    type: fc.constant('input_image'),
    image_url: mostly(fc.constantFrom('data:image/png;base64,aGk=', 'x')),
  }),
  fc.record({ type: fc.constant('input_file'), file_data: word, filename: word }),
  fc.record({ type: fc.constant('input_audio'), input_audio: mostly(fc.constant({ data: 'aGk=', format: 'wav' })) }),
)
const content = fc.oneof(text, mostly(fc.array(mostly(part), { maxLength: 3 })))
const member = fc.record({ type: fc.constantFrom('function', 'custom'), name: word, parameters: json, format: json })
const tool = fc.oneof(
  member,
  fc.record({ type: fc.constant('namespace'), name: word, tools: mostly(fc.array(member, { maxLength: 2 })) }),
  fc.record({ type: fc.constantFrom('web_search', 'mcp', 'x') }),
)
const ids = { id: word, call_id: word, name: word }
const item = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant', 'system', 'developer'), content }),
  fc.record({ type: fc.constant('function_call'), ...ids, namespace: word, arguments: word }),
  fc.record({ type: fc.constant('custom_tool_call'), ...ids, input: word }),
  fc.record({ type: fc.constantFrom('function_call_output', 'custom_tool_call_output'), ...ids, output: content }),
  fc.record({ type: fc.constant('reasoning'), id: word, summary: mostly(fc.array(part)), encrypted_content: word }),
  fc.record({ type: fc.constant('additional_tools'), tools: mostly(fc.array(tool, { maxLength: 3 })) }),
  fc.record({ type: fc.constantFrom('configuration_update', 'item_reference', 'compaction', 'x'), id: word }),
)
const request = fc.record(
  {
    model: mostly(fc.constant('svc/alpha')),
    input: mostly(fc.array(mostly(item), { minLength: 1, maxLength: 4 })),
    instructions: word,
    tools: mostly(fc.array(mostly(tool), { maxLength: 3 })),
    tool_choice: fc.oneof(fc.constant('auto'), member),
    text: mostly(fc.constant({ verbosity: 'low' })),
    reasoning: mostly(fc.constant({ effort: 'low', summary: 'auto' })),
    metadata: mostly(fc.constant({ a: 'b' })),
  },
  { requiredKeys: ['model', 'input'] },
)

test('a request is decoded or refused with a GatewayError, and never changed', () => {
  let decoded = 0
  fc.assert(
    fc.property(request, (body) => {
      const given = body as JsonObject
      const before = JSON.stringify(given)
      try {
        const chat = responses.decodeRequest(given)
        decoded++
        responses.passThrough.request(given, chat, traitsWith())
        responses.createStreamEncoder({ ...CONTEXT, answerEcho: chat.answerEcho ?? {} }).end()
        responses.encodeRequest(chat, traitsWith())
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        expect(error.message.length).toBeLessThan(500)
      }
      expect(JSON.stringify(given)).toBe(before)
    }),
    { numRuns: 1_000 },
  )
  expect(decoded).toBeGreaterThan(100)
})
