/**
 * A provider's own tools: without a price they are refused. Earlier uses in a conversation go to providers of its
 * format; other targets get them omitted and named.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BetaContentBlockParam } from '@anthropic-ai/sdk/resources/beta/messages/messages'
import {
  FORMATS,
  type FormatName,
  type ScriptedModels,
  soundAnswer,
  startScriptedModels,
} from '@test/gateway/scripted-models'
import type { ResponseInputItem } from 'openai/resources/responses/responses'

let world: ScriptedModels
beforeAll(async () => {
  world = await startScriptedModels()
})
afterAll(() => world.gateway.stop())

/** `read` has a meaning in every format, `named` is left out and named, `refused` is a 400. */
type Fate = 'read' | 'named' | 'refused'

/** All that the official library has a type for: a new one doesn't compile until it has its fate. */
const ITEMS: Record<NonNullable<ResponseInputItem['type']>, Fate> = {
  message: 'read',
  function_call: 'read',
  function_call_output: 'read',
  custom_tool_call: 'read',
  custom_tool_call_output: 'read',
  reasoning: 'read',
  additional_tools: 'read',
  configuration_update: 'read',
  item_reference: 'read',
  web_search_call: 'named',
  file_search_call: 'named',
  code_interpreter_call: 'named',
  image_generation_call: 'named',
  mcp_list_tools: 'named',
  mcp_call: 'named',
  mcp_approval_request: 'named',
  mcp_approval_response: 'named',
  tool_search_call: 'named',
  tool_search_output: 'named',
  program: 'named',
  program_output: 'named',
  computer_call: 'refused',
  computer_call_output: 'refused',
  shell_call: 'refused',
  shell_call_output: 'refused',
  local_shell_call: 'refused',
  local_shell_call_output: 'refused',
  apply_patch_call: 'refused',
  apply_patch_call_output: 'refused',
  compaction: 'refused',
  compaction_trigger: 'refused',
}

const BLOCKS: Record<BetaContentBlockParam['type'], Fate> = {
  text: 'read',
  image: 'read',
  document: 'read',
  search_result: 'read',
  thinking: 'read',
  redacted_thinking: 'read',
  tool_use: 'read',
  tool_result: 'read',
  server_tool_use: 'named',
  mcp_tool_use: 'named',
  mcp_tool_listing: 'named',
  mcp_tool_result: 'named',
  web_search_tool_result: 'named',
  web_fetch_tool_result: 'named',
  advisor_tool_result: 'named',
  code_execution_tool_result: 'named',
  bash_code_execution_tool_result: 'named',
  text_editor_code_execution_tool_result: 'named',
  tool_search_tool_result: 'named',
  container_upload: 'refused',
  compaction: 'refused',
  tool_addition: 'refused',
  tool_removal: 'refused',
  fallback: 'refused',
}

const user = { role: 'user', content: 'Hi' }
const SECRET = 'words of the tool'

type Sample = { format: FormatName; kind: string; fate: Fate; name: string; body: Record<string, unknown> }

const SAMPLES: Sample[] = [
  ...Object.entries(ITEMS).map(([kind, fate]): Sample => {
    const input = [user, { type: kind, id: 'x_1', output: SECRET }, { role: 'assistant', content: 'So.' }, user]
    return { format: 'responses', kind, fate, name: `input.${kind}`, body: { input } }
  }),
  ...Object.entries(BLOCKS).map(([kind, fate]): Sample => {
    const content = [
      { type: kind, id: 'x_1', content: SECRET },
      { type: 'text', text: 'So.' },
    ]
    return {
      format: 'messages',
      kind,
      fate,
      name: `messages.${kind}`,
      body: { messages: [user, { role: 'assistant', content }, user] },
    }
  }),
  ...['toolCall', 'toolResponse'].map((kind): Sample => {
    const parts = [{ [kind]: { id: 'x_1', args: SECRET } }, { text: 'So.' }]
    const own = { role: 'user', parts: [{ text: 'Hi' }] }
    return {
      format: 'generate-content',
      kind,
      fate: 'named',
      name: `contents.${kind}`,
      body: { contents: [own, { role: 'model', parts }, own] },
    }
  }),
  {
    format: 'chat-completions',
    kind: 'audio',
    fate: 'named',
    name: 'messages.audio',
    body: { messages: [user, { role: 'assistant', content: 'So.', audio: { id: SECRET } }, user] },
  },
]

/** Each with one provider of another format, in turn: the client's format decides what is left out. */
const PAIRS = SAMPLES.filter(({ fate }) => fate !== 'read').flatMap((sample, index) => {
  const others = FORMATS.filter((provider) => provider !== sample.format)
  return others.slice(index % 3, (index % 3) + 1).map((provider) => ({ ...sample, provider }))
})

describe.each(PAIRS)('$kind in the history of $format, sent to $provider', ({ format, provider, fate, name, body }) => {
  test(fate === 'named' ? 'the item is omitted and named' : 'the item is refused by name', async () => {
    let received: string | undefined
    const model = world.modelWith(provider, ({ text }) => {
      received = text
      return soundAnswer(provider, false)
    })
    const { response, text } = await world.ask({ format, model, body })
    if (fate === 'refused') {
      expect({ status: response.status, received }).toEqual({ status: 400, received: undefined })
      expect(text).toMatch(/input\[1\]|messages\[1\]\.content\[0\]/)
      return
    }
    expect(response.status).toBe(200)
    expect(response.headers.get('x-svc-left-out')).toBe(name)
    expect(received).toContain('So.')
    expect(received).not.toContain(SECRET)
  })
})

test.each(SAMPLES.filter(({ fate }) => fate === 'named'))(
  '$kind in the history of $format is sent to a provider of its format, and nothing is named as omitted',
  async ({ format, body }) => {
    let received: string | undefined
    const model = world.modelWith(format, ({ text }) => {
      received = text
      return soundAnswer(format, false)
    })
    const { response } = await world.ask({ format, model, body })
    expect({ status: response.status, leftOut: response.headers.get('x-svc-left-out') }).toEqual({
      status: 200,
      leftOut: null,
    })
    expect(received).toContain(SECRET)
  },
)

test.each(FORMATS.filter((format) => format !== 'generate-content' && format !== 'messages'))(
  'a turn of %s that is only a refusal becomes text for a provider of any format',
  async (format) => {
    for (const provider of FORMATS.filter((other) => other !== format)) {
      let received: Record<string, unknown> = {}
      const model = world.modelWith(provider, (call) => {
        received = call.body
        return soundAnswer(provider, false)
      })
      const declined = { type: 'refusal', refusal: 'I decline.' }
      const body =
        format === 'responses'
          ? { input: [user, { type: 'message', role: 'assistant', content: [declined] }, user] }
          : { messages: [user, { role: 'assistant', content: null, refusal: 'I decline.' }, user] }
      expect((await world.ask({ format, model, body })).response.status).toBe(200)
      expect(JSON.stringify(received)).toContain('I decline.')
      const { messages = [] } = received as { messages?: { role: string; content: unknown }[] }
      for (const { content } of messages) expect(content).toBeTruthy()
      if (provider === 'chat-completions') expect(messages[1]).toEqual({ role: 'assistant', content: 'I decline.' })
    }
  },
)

test.each([
  ['messages', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0]'],
  ['messages', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }, 'tools[0]'],
  ['generate-content', { tools: [{ functionDeclarations: [{ name: 'f' }] }, { googleSearch: {} }] }, 'tools[1]'],
  ['chat-completions', { web_search_options: {} }, 'web_search_options'],
] as [FormatName, Record<string, unknown>, string][])(
  'a tool without a price is refused in %s, and the field is named: %j',
  async (format, body, field) => {
    const model = world.modelWith(format, () => soundAnswer(format, false))
    const { response, text } = await world.ask({ format, model, body })
    expect(response.status).toBe(400)
    expect(text).toContain(field)
    expect(text).toContain('No model takes it')
  },
)
