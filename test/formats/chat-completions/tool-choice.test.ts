/** The tool choice for services that support fewer choices, for callers of chat-completions and of other formats. */
import { expect, test } from 'bun:test'
import { FORMATS } from '@/formats/index'
import type { JsonObject } from '@/lib/json'

const TRAITS = { model: 'theirs', maxOutputTokens: 100, quirks: new Set(['tool-choice-any']), accountId: 'a' }
const FORMAT = FORMATS.get('chat-completions')
const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })
const TOOLS = [tool('one'), tool('two')]

/** What is sent for a caller's choice: as it is passed on, and as it is encoded from the hub. */
function sent(choice: JsonObject | string): JsonObject[] {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], tools: TOOLS, tool_choice: choice }
  if (!FORMAT) throw new Error('no format')
  const request = FORMAT.decodeRequest(body, {})
  return [FORMAT.passThrough.request(body, request, TRAITS), FORMAT.encodeRequest(request, TRAITS).body]
}

test.each(['auto', 'none'])('the tool choice %s is sent unchanged', (choice) => {
  for (const body of sent(choice)) expect(body).toMatchObject({ tool_choice: choice, tools: TOOLS })
})

test('a required tool call becomes "any" if the service needs that', () => {
  for (const body of sent('required')) expect(body).toMatchObject({ tool_choice: 'any', tools: TOOLS })
})

test('a named function becomes "any", with that function as the only tool', () => {
  for (const body of sent({ type: 'function', function: { name: 'two' } })) {
    expect(body.tool_choice).toBe('any')
    expect(body.tools).toEqual([expect.objectContaining({ function: expect.objectContaining({ name: 'two' }) })])
  }
})
