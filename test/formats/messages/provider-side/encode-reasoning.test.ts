/** Models that always think: thinking is reduced instead of turned off, and a tool call is requested in words instead of forced. */
import { expect, test } from 'bun:test'
import { chatRequest, traits } from '@test/formats/messages/support'
import type { ChatRequest } from '@/chat/request'
import { messages } from '@/formats/messages/index'

const encode = (changes: Partial<ChatRequest>, ...quirks: string[]) =>
  messages.encodeRequest(chatRequest(changes), traits(...quirks))
const tools = [{ name: 'f' }, { name: 'g' }]

test.each<[ChatRequest['toolChoice'], string]>([
  [{ type: 'required' }, 'Answer with a call of a tool, not with text alone.'],
  [{ type: 'tool', name: 'g' }, 'Answer with a call of the tool g, not with text alone.'],
])('reasoning %j becomes an instruction if the model always thinks', (toolChoice, instruction) => {
  const reasoning = { effort: 'high' as const }
  const { body, warnings } = encode({ tools, toolChoice, reasoning }, 'adaptive-thinking', 'always-thinking')
  expect(body).toMatchObject({ tool_choice: { type: 'auto' }, system: instruction, thinking: { type: 'adaptive' } })
  expect(warnings.map((warning) => warning.feature)).toEqual(['tool_choice'])
})

test('reasoning cannot be turned off if the model always thinks', () => {
  const { body, warnings } = encode({ reasoning: { effort: 'none' } }, 'adaptive-thinking', 'always-thinking')
  expect(body).not.toHaveProperty('thinking')
  expect(body.output_config).toEqual({ effort: 'low' })
  expect(warnings.map((warning) => warning.feature)).toEqual(['reasoning'])
})
