/**
 * Fields never vanish: each field that the vendors' libraries declare in a conversation is sent, named as omitted, or
 * refused, at providers of each format and dialect.
 */
import { describe, expect, test } from 'bun:test'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { JsonObject, JsonValue } from '@/lib/json'
import { readInterfaces } from './api-typings'
import { bodyOf, CELLS, type Cell } from './place-samples'
import { PROVIDERS, send } from './places'

const OPENAI_CHAT = 'openai/resources/chat/completions/completions.d.ts'
const OPENAI_RESPONSES = 'openai/resources/responses/responses.d.ts'
const ANTHROPIC = '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts'
const GOOGLE = '@google/genai/dist/genai.d.ts'

/** Where an object of such an interface stands in a conversation: in the content of these kinds, or beside all content. */
type Declared = { file: string; name: string; isMeant(holder: JsonObject): boolean; kinds?: string[] }

const typed = (type: string) => (holder: JsonObject) => holder.type === type
const ROLE = (role: string) => (holder: JsonObject) => holder.role === role

const DECLARED: Record<FormatName, Declared[]> = {
  'chat-completions': [
    ...[
      ['ChatCompletionUserMessageParam', 'user'],
      ['ChatCompletionAssistantMessageParam', 'assistant'],
      ['ChatCompletionToolMessageParam', 'tool'],
    ].map(([name = '', role = '']) => ({ file: OPENAI_CHAT, name, isMeant: ROLE(role) })),
    { file: OPENAI_CHAT, name: 'ChatCompletionContentPartText', isMeant: typed('text') },
    { file: OPENAI_CHAT, name: 'ChatCompletionContentPartImage', isMeant: typed('image_url'), kinds: ['image'] },
    { file: OPENAI_CHAT, name: 'ImageURL', isMeant: ({ url }) => url !== undefined, kinds: ['image'] },
    { file: OPENAI_CHAT, name: 'File', isMeant: ({ file_data: data }) => data !== undefined, kinds: ['pdf'] },
    { file: OPENAI_CHAT, name: 'ChatCompletionMessageFunctionToolCall', isMeant: typed('function') },
    { file: 'openai/resources/shared.d.ts', name: 'FunctionDefinition', isMeant: ({ parameters }) => !!parameters },
  ],
  responses: [
    { file: OPENAI_RESPONSES, name: 'EasyInputMessage', isMeant: ROLE('user') },
    { file: OPENAI_RESPONSES, name: 'ResponseOutputMessage', isMeant: ROLE('assistant') },
    { file: OPENAI_RESPONSES, name: 'ResponseFunctionToolCall', isMeant: typed('function_call') },
    { file: OPENAI_RESPONSES, name: 'ResponseInputText', isMeant: typed('input_text') },
    { file: OPENAI_RESPONSES, name: 'ResponseOutputText', isMeant: typed('output_text') },
    { file: OPENAI_RESPONSES, name: 'ResponseInputImage', isMeant: typed('input_image'), kinds: ['image'] },
    { file: OPENAI_RESPONSES, name: 'ResponseInputFile', isMeant: typed('input_file'), kinds: ['pdf'] },
    { file: OPENAI_RESPONSES, name: 'FunctionTool', isMeant: ({ parameters }) => parameters !== undefined },
  ],
  messages: [
    { file: ANTHROPIC, name: 'BetaTextBlockParam', isMeant: typed('text') },
    { file: ANTHROPIC, name: 'BetaImageBlockParam', isMeant: typed('image'), kinds: ['image'] },
    { file: ANTHROPIC, name: 'BetaRequestDocumentBlock', isMeant: typed('document'), kinds: ['pdf', 'text file'] },
    { file: ANTHROPIC, name: 'BetaSearchResultBlockParam', isMeant: typed('search_result'), kinds: ['search result'] },
    { file: ANTHROPIC, name: 'BetaToolUseBlockParam', isMeant: typed('tool_use') },
    { file: ANTHROPIC, name: 'BetaToolResultBlockParam', isMeant: typed('tool_result') },
    { file: ANTHROPIC, name: 'BetaTool', isMeant: ({ input_schema: schema }) => schema !== undefined },
  ],
  'generate-content': [
    { file: GOOGLE, name: 'Content', isMeant: ROLE('user') },
    { file: GOOGLE, name: 'FunctionDeclaration', isMeant: ({ parametersJsonSchema: schema }) => schema !== undefined },
    { file: GOOGLE, name: 'FunctionResponse', isMeant: ({ response }) => response !== undefined },
  ],
}

const WORD = 'canaryword'

/** No texts; or what has no meaning at another format, or stands there in other words; or another source of the same file. */
const NO_LOSS = new Set([
  ...['strict', 'async', 'behavior', 'citations', 'caller', 'allowed_callers', 'eager_input_streaming'],
  ...['id', 'type', 'role', 'status', 'created_by', 'cache_control', 'prompt_cache_breakpoint'],
  ...['file_id', 'file_url'],
])

/** Each object in `value`. */
function objectsIn(value: JsonValue | undefined): JsonObject[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(objectsIn)
  return [value, ...Object.values(value).flatMap(objectsIn)]
}

/** Bodies with a conversation in which such objects stand. */
function bodiesFor(client: FormatName, kinds: string[] | undefined): JsonObject[] {
  const cells: (Cell | undefined)[] = kinds ? CELLS[client].filter(({ kind }) => kinds.includes(kind)) : [undefined]
  return cells.map((cell) => bodyOf(client, cell ? [cell] : []))
}

describe.each(FORMAT_NAMES)('declared fields of %s', (client) => {
  test.each(DECLARED[client])(
    'no declared field of $name is omitted without being named',
    async ({ file, name, isMeant, kinds }) => {
      const fields = await readInterfaces(file, [name])
      expect(fields.length).toBeGreaterThan(0)
      const vanished = new Set<string>()
      let holders = 0
      for (const base of bodiesFor(client, kinds)) {
        for (const index of objectsIn(base).keys()) {
          const holder = objectsIn(base)[index]
          if (!holder || !isMeant(holder)) continue
          holders++
          for (const field of fields.filter((one) => !Object.hasOwn(holder, one) && !NO_LOSS.has(one))) {
            const body = structuredClone(base)
            Object.assign(objectsIn(body)[index] ?? {}, { [field]: WORD })
            for (const provider of PROVIDERS) {
              const { sent, leftOut = [] } = send(client, provider, body)
              const isNamed = leftOut.some((path) => path.split('.').includes(field))
              if (sent && !JSON.stringify(sent).includes(WORD) && !isNamed) vanished.add(`${field} at ${provider.name}`)
            }
          }
        }
      }
      expect(holders).toBeGreaterThan(0)
      expect([...vanished]).toEqual([])
    },
  )
})
