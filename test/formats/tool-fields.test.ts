/** Fields of tools that no list knows: left out and named, in requests that go to a provider of their own format. */
import { describe, expect, test } from 'bun:test'
import { traitsWith } from '@test/formats/responses/support'
import type { FormatName } from '@/chat/format-name'
import { TOOL_FIELDS as CHAT_COMPLETIONS } from '@/formats/chat-completions/body-fields'
import { FORMATS } from '@/formats/index'
import { TOOL_FIELDS as MESSAGES } from '@/formats/messages/body-fields'
import { TOOL_FIELDS as RESPONSES } from '@/formats/responses/body-fields'
import type { JsonObject } from '@/lib/json'
import { readToolFields } from './api-typings'

const LISTS = { 'chat-completions': CHAT_COMPLETIONS, messages: MESSAGES, responses: RESPONSES }
const BODIES: Record<keyof typeof LISTS, JsonObject> = {
  'chat-completions': { messages: [{ role: 'user', content: 'Hi' }] },
  messages: { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  responses: { input: 'Hi' },
}
const SCHEMA = { type: 'object', properties: { container: { type: 'number', minimum: 1 } } }
const TOOLS: Record<keyof typeof LISTS, [tool: JsonObject, listed: JsonObject, paths: string[]][]> = {
  'chat-completions': [
    [
      { type: 'function', function: { name: 'f', parameters: SCHEMA, model: 'dear' }, fallbacks: ['dear'] },
      { type: 'function', function: { name: 'f', parameters: SCHEMA } },
      ['tools.fallbacks', 'tools.function.model'],
    ],
  ],
  messages: [
    [{ name: 'f', input_schema: SCHEMA, thread: 'kept' }, { name: 'f', input_schema: SCHEMA }, ['tools.thread']],
  ],
  responses: [
    [
      { type: 'function', name: 'f', parameters: SCHEMA, strict: false, previous: 'kept' },
      { type: 'function', name: 'f', parameters: SCHEMA, strict: false },
      ['tools.previous'],
    ],
  ],
}

test('every field of the tools that the installed libraries declare is on the list', async () => {
  const declared = await readToolFields()
  for (const [name, list] of Object.entries(LISTS)) {
    const fields = declared[name as keyof typeof LISTS]
    expect(fields.length).toBeGreaterThan(1)
    expect([name, fields.filter((field) => !list.own.has(field))]).toEqual([name, []])
  }
})

describe.each(Object.keys(LISTS) as (keyof typeof LISTS)[])('in %s', (name) => {
  const send = (tools: JsonObject[], passFields: string[] = []) => {
    const format = FORMATS.get(name as FormatName)
    const body = { model: 'svc/alpha', ...BODIES[name], tools }
    const request = format?.decodeRequest(structuredClone(body), {})
    if (!format || !request) throw new Error(`there is a codec for ${name}`)
    const traits = { ...traitsWith(), passFields: new Set(passFields) }
    return { request, sent: format.passThrough.request(body, request, traits).tools }
  }

  test.each(TOOLS[name])('%j goes without what nobody knows, which is named', (tool, listed, paths) => {
    const { request, sent } = send([listed, tool])
    expect(request.unlisted?.toSorted()).toEqual(paths.toSorted())
    expect(sent).toEqual([listed, listed])
  })

  test.each(TOOLS[name])('%j goes as it is where the operator says so', (tool, _, paths) => {
    expect(send([tool], paths).sent).toEqual([tool])
  })

  test.each(TOOLS[name])('of %j what is listed is left alone', (_, listed) => {
    expect(send([listed]).request.unlisted).toBeUndefined()
  })
})
