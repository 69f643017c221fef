/** Every kind of content that each format's callers may send, in every place where it may stand; each with a word of its own. */
import type { FormatName } from '@/chat/format-name'
import type { JsonObject } from '@/lib/json'

const PLACES = ['system', 'user', 'model', 'result'] as const
type Place = (typeof PLACES)[number]

/** One kind of content in one place. `field` is where it stands if not in the content of that place. */
export type Cell = { place: Place; kind: string; canary: string; part: JsonObject; field?: string }

/** A part that holds a word, or the base64 of it. */
type Sample = (word: string, base64: string) => JsonObject

type Samples = { readonly [P in Place]: Readonly<Record<string, Sample>> }

/** What a test calls a cell. */
export function cellName({ place, kind }: Cell): string {
  return `${kind} in ${place}`
}

const dataUrl = (type: string, base64: string) => `data:${type};base64,${base64}`

const CHAT_PARTS: Record<string, Sample> = {
  text: (text) => ({ type: 'text', text }),
  image: (_, base64) => ({ type: 'image_url', image_url: { url: dataUrl('image/png', base64) } }),
  'image address': (word) => ({ type: 'image_url', image_url: { url: `https://example.com/${word}.png` } }),
  audio: (_, data) => ({ type: 'input_audio', input_audio: { data, format: 'wav' } }),
  video: (_, base64) => ({ type: 'video_url', video_url: { url: dataUrl('video/mp4', base64) } }),
  pdf: (_, base64) => ({ type: 'file', file: { filename: 'a.pdf', file_data: dataUrl('application/pdf', base64) } }),
  'text file': (_, base64) => ({ type: 'file', file: { filename: 'a.txt', file_data: dataUrl('text/plain', base64) } }),
  'own file': (word) => ({ type: 'file', file: { file_id: word } }),
  refusal: (refusal) => ({ type: 'refusal', refusal }),
}

const RESPONSES_PARTS: Record<string, Sample> = {
  text: (text) => ({ type: 'input_text', text }),
  image: (_, base64) => ({ type: 'input_image', image_url: dataUrl('image/png', base64) }),
  'own image': (word) => ({ type: 'input_image', file_id: word }),
  audio: (_, data) => ({ type: 'input_audio', input_audio: { data, format: 'mp3' } }),
  pdf: (_, base64) => ({ type: 'input_file', filename: 'a.pdf', file_data: dataUrl('application/pdf', base64) }),
  'text file': (_, base64) => ({ type: 'input_file', filename: 'a.txt', file_data: dataUrl('text/plain', base64) }),
  'file address': (word) => ({ type: 'input_file', file_url: `https://example.com/${word}.pdf` }),
  refusal: (refusal) => ({ type: 'refusal', refusal }),
}

const base64Source = (media_type: string, data: string) => ({ type: 'base64', media_type, data })
const MESSAGES_PARTS: Record<string, Sample> = {
  text: (text) => ({ type: 'text', text }),
  image: (_, data) => ({ type: 'image', source: base64Source('image/png', data) }),
  'image address': (word) => ({ type: 'image', source: { type: 'url', url: `https://example.com/${word}.png` } }),
  pdf: (_, data) => ({ type: 'document', source: base64Source('application/pdf', data) }),
  'text file': (data) => ({ type: 'document', source: { type: 'text', media_type: 'text/plain', data } }),
  'own file': (word) => ({ type: 'document', source: { type: 'file', file_id: word } }),
  'file of blocks': (text) => ({ type: 'document', source: { type: 'content', content: [{ type: 'text', text }] } }),
  'picture in a file of blocks': (_, data) => ({
    type: 'document',
    source: { type: 'content', content: [{ type: 'image', source: base64Source('image/png', data) }] },
  }),
  'search result': (text) => ({
    ...{ type: 'search_result', source: 'https://example.com', title: 'Found' },
    content: [{ type: 'text', text }],
  }),
  'tool reference': (tool_name) => ({ type: 'tool_reference', tool_name }),
}

const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } })
const GEMINI_MEDIA: Record<string, Sample> = {
  image: (_, data) => inline('image/png', data),
  audio: (_, data) => inline('audio/wav', data),
  video: (_, data) => inline('video/mp4', data),
  pdf: (_, data) => inline('application/pdf', data),
  'text file': (_, data) => inline('text/plain', data),
  'own file': (word) => ({ fileData: { fileUri: `https://g.example.com/v1beta/files/${word}` } }),
  'audio address': (word) => ({ fileData: { fileUri: `https://example.com/${word}.mp3`, mimeType: 'audio/mpeg' } }),
}
const GEMINI_PARTS: Record<string, Sample> = {
  ...GEMINI_MEDIA,
  text: (text) => ({ text }),
  code: (code) => ({ executableCode: { language: 'PYTHON', code } }),
  'output of code': (output) => ({ codeExecutionResult: { outcome: 'OUTCOME_OK', output } }),
}

const SAMPLES: Record<FormatName, Samples> = {
  'chat-completions': {
    system: CHAT_PARTS,
    user: CHAT_PARTS,
    model: { ...CHAT_PARTS, 'picture it made': (_, base64) => ({ in: 'images', ...CHAT_PARTS.image?.('', base64) }) },
    result: CHAT_PARTS,
  },
  responses: {
    system: RESPONSES_PARTS,
    user: RESPONSES_PARTS,
    model: {
      ...RESPONSES_PARTS,
      'picture it made': (_, result) => ({ in: 'input', type: 'image_generation_call', id: 'ig_1', result }),
    },
    result: RESPONSES_PARTS,
  },
  messages: {
    system: MESSAGES_PARTS,
    user: MESSAGES_PARTS,
    model: MESSAGES_PARTS,
    result: { ...MESSAGES_PARTS, 'unknown block': (word) => ({ type: 'stranger', word }) },
  },
  'generate-content': {
    system: GEMINI_PARTS,
    user: {
      ...GEMINI_PARTS,
      thought: (text) => ({ text, thought: true }),
      'call of a function': (word) => ({ functionCall: { id: 'call_2', name: 'tell', args: { word } } }),
    },
    model: {
      ...GEMINI_PARTS,
      'result of a function': (output) => ({ functionResponse: { id: 'call_1', name: 'tell', response: { output } } }),
    },
    result: GEMINI_MEDIA,
  },
}

/** All cells of each format. */
export const CELLS = Object.fromEntries(
  Object.entries(SAMPLES).map(([format, samples]) => [
    format,
    PLACES.flatMap((place, row) =>
      Object.entries(samples[place]).map(([kind, sample], column): Cell => {
        // Nine bytes, so that their base64 is found whatever stands around it; file ids and addresses may hold the word.
        const canary = `canary${row}${String(column).padStart(2, '0')}`
        const { in: field, ...part } = sample(canary, Buffer.from(canary).toString('base64'))
        return { place, kind, canary, part, ...(typeof field === 'string' && { field }) }
      }),
    ),
  ]),
) as Record<FormatName, Cell[]>

/** A conversation with a call and its result, and `cells` in it. */
export function bodyOf(client: FormatName, cells: readonly Cell[]): JsonObject {
  const at = (place: Place, field?: string) =>
    cells.filter((cell) => cell.place === place && cell.field === field).map(({ part }) => part)
  return BODIES[client](at)
}

type At = (place: Place, field?: string) => JsonObject[]

const CALL = { id: 'call_1', name: 'tell', arguments: '{"a":1}' }

const BODIES: Record<FormatName, (at: At) => JsonObject> = {
  'chat-completions': (at) => ({
    model: 'svc/alpha',
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief' }, ...at('system')] },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }, ...at('user')] },
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'Well' }, ...at('model')],
        tool_calls: [{ id: CALL.id, type: 'function', function: { name: CALL.name, arguments: CALL.arguments } }],
        ...(at('model', 'images').length > 0 && { images: at('model', 'images') }),
      },
      { role: 'tool', tool_call_id: CALL.id, content: [{ type: 'text', text: 'Told' }, ...at('result')] },
      { role: 'user', content: 'Go on' },
    ],
    tools: [{ type: 'function', function: { name: CALL.name, parameters: { type: 'object' } } }],
  }),
  responses: (at) => ({
    model: 'svc/alpha',
    input: [
      { role: 'developer', content: [{ type: 'input_text', text: 'Be brief' }, ...at('system')] },
      { role: 'user', content: [{ type: 'input_text', text: 'Hi' }, ...at('user')] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Well' }, ...at('model')] },
      ...at('model', 'input'),
      { type: 'function_call', call_id: CALL.id, name: CALL.name, arguments: CALL.arguments },
      {
        type: 'function_call_output',
        call_id: CALL.id,
        output: [{ type: 'input_text', text: 'Told' }, ...at('result')],
      },
      { role: 'user', content: 'Go on' },
    ],
    tools: [{ type: 'function', name: CALL.name, parameters: { type: 'object' } }],
  }),
  messages: (at) => ({
    ...{ model: 'svc/alpha', max_tokens: 100 },
    system: [{ type: 'text', text: 'Be brief' }, ...at('system')],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Hi' }, ...at('user')] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Well' },
          ...at('model'),
          { type: 'tool_use', id: CALL.id, name: CALL.name, input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: CALL.id, content: [{ type: 'text', text: 'Told' }, ...at('result')] },
          { type: 'text', text: 'Go on' },
        ],
      },
    ],
    tools: [{ name: CALL.name, input_schema: { type: 'object' } }],
  }),
  'generate-content': (at) => ({
    systemInstruction: { parts: [{ text: 'Be brief' }, ...at('system')] },
    contents: [
      { role: 'user', parts: [{ text: 'Hi' }, ...at('user')] },
      {
        role: 'model',
        parts: [{ text: 'Well' }, ...at('model'), { functionCall: { id: CALL.id, name: CALL.name, args: { a: 1 } } }],
      },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              ...{ id: CALL.id, name: CALL.name, response: { output: 'Told' } },
              ...(at('result').length > 0 && { parts: at('result') }),
            },
          },
        ],
      },
      { role: 'user', parts: [{ text: 'Go on' }] },
    ],
    tools: [{ functionDeclarations: [{ name: CALL.name, parametersJsonSchema: { type: 'object' } }] }],
  }),
}
