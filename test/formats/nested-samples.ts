/** A request with each field that stands inside others and that not all formats have, and the same request without it. */
import type { FormatName } from '@/chat/format-name'
import type { JsonObject, JsonValue } from '@/lib/json'
import { DATA_URL, type Overlay, PARAMETERS, pair, type Sample, SCHEMA } from './sample-words'

const PDF = { mimeType: 'application/pdf', data: 'JVBERi0xLjQK' }
const PDF_URL = `data:application/pdf;base64,${PDF.data}`

/** Each field with its value, put into a body by `within`; where the field needs something beside it, that stays. */
function each(
  prefix: string,
  fields: Record<string, JsonValue>,
  within: (fields: JsonObject) => Overlay,
  beside: JsonObject = {},
): Record<string, Sample> {
  const entries = Object.entries(fields).map(
    ([name, value]) => [prefix + name, pair(within({ ...beside, [name]: value }), within(beside))] as const,
  )
  return Object.fromEntries(entries)
}

const HI = { role: 'user', content: 'Hi' }

const chatTurn = (message: JsonObject) => ({ messages: [HI, { role: 'assistant', content: 'Hm', ...message }, HI] })
const chatSchema = (schema: JsonObject) => ({
  response_format: { type: 'json_schema', json_schema: { schema: SCHEMA, ...schema } },
})
const chatFile = (file: JsonObject) => ({
  messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: PDF_URL, ...file } }] }],
})

const tool = (fields: JsonObject) => ({ tools: [{ name: 'now', input_schema: PARAMETERS, ...fields }] })
const message = (fields: JsonObject) => ({
  messages: [HI, { role: 'assistant', content: 'Hm' }, { role: 'user', content: 'And?', ...fields }],
})
const said = (fields: JsonObject) => ({
  messages: [HI, { role: 'assistant', content: [{ type: 'text', text: 'Hm', ...fields }] }, HI],
})
const called = (fields: JsonObject) => ({
  messages: [
    HI,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'now', input: {}, ...fields }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: '12:00' }] },
  ],
})
const CITED = [{ type: 'char_location', cited_text: 'Hm', document_index: 0, start_char_index: 0, end_char_index: 2 }]

const file = (type: string, media_type: string, fields: JsonObject) => ({
  messages: [{ role: 'user', content: [{ type, source: { type: 'base64', media_type, data: PDF.data }, ...fields }] }],
})
const pdf = (fields: JsonObject) => file('document', PDF.mimeType, fields)
const picture = (fields: JsonObject) => file('image', 'image/png', fields)

const declared = (fields: JsonObject) => ({
  tools: [{ functionDeclarations: [{ name: 'now', parametersJsonSchema: PARAMETERS, ...fields }] }],
})
const part = (fields: JsonObject) => ({ contents: [{ role: 'user', parts: [{ text: 'Hi', ...fields }] }] })
const media = (key: string) => (fields: JsonObject) => ({
  contents: [{ role: 'user', parts: [{ text: 'Hi' }, { [key]: fields }] }],
})
const answered = (fields: JsonObject) => ({
  contents: [
    { role: 'user', parts: [{ text: 'Hi' }] },
    { role: 'model', parts: [{ functionCall: { id: 'c', name: 'now', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { id: 'c', name: 'now', response: { output: '12:00' }, ...fields } }] },
  ],
})
const resultPart = (fields: JsonObject) => answered({ parts: [{ inlineData: PNG, ...fields }] })
const PNG = { mimeType: 'image/png', data: DATA_URL.slice(DATA_URL.indexOf(',') + 1) }
const calling = (fields: JsonObject) => ({ toolConfig: { functionCallingConfig: fields } })
const PLACE = { latLng: { latitude: 1, longitude: 2 } }

const itemTool = (fields: JsonObject) => ({
  tools: [{ type: 'function', name: 'now', parameters: PARAMETERS, strict: false, ...fields }],
})
const item = (fields: JsonObject) => ({
  input: [HI, { role: 'assistant', content: [{ type: 'output_text', text: 'Hm' }], ...fields }, HI],
})
const outputText = (fields: JsonObject) => ({
  input: [HI, { role: 'assistant', content: [{ type: 'output_text', text: 'Hm', ...fields }] }, HI],
})
const itemCall = (fields: JsonObject) => ({
  input: [
    HI,
    { type: 'function_call', call_id: 'c', name: 'now', arguments: '{}', ...fields },
    { type: 'function_call_output', call_id: 'c', output: '12:00' },
  ],
})
const inputFile = (fields: JsonObject) => ({
  input: [{ role: 'user', content: [{ type: 'input_file', file_data: PDF_URL, ...fields }] }],
})
const CITATION = { type: 'url_citation', url: 'https://a.test/', title: 'A', start_index: 0, end_index: 2 }
const textSchema = (fields: JsonObject) => ({ text: { format: { type: 'json_schema', schema: SCHEMA, ...fields } } })

export const NESTED_SAMPLES: Record<FormatName, Record<string, Sample>> = {
  'chat-completions': {
    ...each(
      'messages.',
      {
        annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.test/', title: 'A' } }],
        reasoning: 'Because',
        reasoning_content: 'Because',
        reasoning_details: [{ type: 'reasoning.text', text: 'Because' }],
        thinking_blocks: [{ type: 'thinking', thinking: 'Because', signature: 'x' }],
        prefix: true,
        partial: true,
      },
      chatTurn,
    ),
    ...each('messages.content.file.', { filename: 'a.pdf' }, chatFile),
    ...each('response_format.json_schema.', { name: 'a_name', description: 'What it is' }, chatSchema),
    ...each('stream_options.', { include_obfuscation: true }, (stream_options) => ({ stream_options })),
  },
  messages: {
    ...each(
      'tools.',
      {
        input_examples: [{ zone: 'UTC' }],
        defer_loading: true,
        eager_input_streaming: true,
        allowed_callers: ['code_execution_20260120'],
      },
      tool,
    ),
    'tools.type': pair(
      {
        tools: [
          { name: 'now', input_schema: PARAMETERS },
          { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
        ],
      },
      tool({}),
    ),
    ...each('messages.', { clear_at: 'never' }, message),
    ...each('messages.output_config.', { effort: 'low' }, (output_config) => message({ output_config })),
    ...each('messages.content.', { citations: CITED }, said),
    ...each('messages.content.', { title: 'A title' }, pdf),
    ...each('messages.content.', { transformations: { crop: true } }, picture),
    ...each('messages.content.', { toolset_name: 'clock' }, called),
    ...each('messages.content.', { caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' } }, called),
    ...each('thinking.', { block_binding: { prefix_mismatch: 'drop' } }, (thinking) => ({ thinking }), {
      type: 'enabled',
      budget_tokens: 1_024,
    }),
    ...each('output_config.', { task_budget: { type: 'tokens', total: 9_000 } }, (output_config) => ({
      output_config,
    })),
  },
  'generate-content': {
    ...each(
      'tools.functionDeclarations.',
      { behavior: 'NON_BLOCKING', response: { type: 'STRING' }, responseJsonSchema: { type: 'string' } },
      declared,
    ),
    ...each('toolConfig.functionCallingConfig.', { mode: 'VALIDATED', streamFunctionCallArguments: true }, calling),
    ...each('toolConfig.', { retrievalConfig: PLACE, includeServerSideToolInvocations: true }, (toolConfig) => ({
      toolConfig,
    })),
    ...each(
      'contents.parts.',
      {
        videoMetadata: { fps: 1 },
        mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' },
        mediaProcessing: { a: 'b' },
        audioTranscription: { text: 'Hi' },
        speechMetadata: { speakerId: 'a' },
        partMetadata: { a: 'b' },
      },
      part,
    ),
    ...each('contents.parts.inlineData.', { displayName: 'a.pdf' }, media('inlineData'), PDF),
    ...each('contents.parts.functionResponse.', { scheduling: 'SILENT', willContinue: true }, answered),
    ...each('contents.parts.functionResponse.parts.', { mediaProcessing: { a: 'b' } }, resultPart),
  },
  responses: {
    ...each(
      'tools.',
      { output_schema: SCHEMA, defer_loading: true, async: true, allowed_callers: ['programmatic'] },
      itemTool,
    ),
    ...each('input.', { phase: 'commentary' }, item),
    ...each('input.', { caller: { type: 'program', caller_id: 'prog_1' } }, itemCall),
    ...each('input.content.', { annotations: [CITATION], logprobs: [{ token: 'Hm', logprob: -1 }] }, outputText),
    ...each('input.content.', { filename: 'a.pdf', detail: 'low' }, inputFile),
    ...each('reasoning.', { context: 'all_turns', mode: 'pro' }, (reasoning) => ({ reasoning })),
    ...each('text.format.', { name: 'a_name', description: 'What it is' }, textSchema),
  },
}
