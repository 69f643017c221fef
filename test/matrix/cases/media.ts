/** Images, files and audio: as bytes, as addresses, and as ids that only one provider knows. */
import type { Group } from '@test/matrix/types'
import type { JsonObject } from '@/lib/json'
import { AS_ASKED, ask, TEXT, TOOLS } from './words'

const PNG = 'iVBORw0KGgo='
const PDF = 'JVBERi0xLjQK'
const WAV = 'UklGRgAAAABXQVZF'
const [CAT, CLIP] = ['https://example.com/cat.png', 'https://example.com/clip.mp4']

/** One user message in each format; a part that is undefined is one the format can't say. */
function see(chat: JsonObject[] | undefined, messages: JsonObject[] | undefined, gemini: JsonObject[] | undefined) {
  const all = ask({
    chat: { messages: [{ role: 'user', content: [...(chat ?? []), { type: 'text', text: 'Describe it' }] }] },
    messages: { messages: [{ role: 'user', content: [...(messages ?? []), { type: 'text', text: 'Describe it' }] }] },
    gemini: { contents: [{ role: 'user', parts: [...(gemini ?? []), { text: 'Describe it' }] }] },
  })
  return {
    ...(chat && { 'chat-completions': all['chat-completions'] }),
    ...(messages && { messages: all.messages }),
    ...(gemini && { 'generate-content': all['generate-content'] }),
  }
}

const imageUrl = (url: string, more: JsonObject = {}): JsonObject => ({
  type: 'image_url',
  image_url: { url, ...more },
})
const image = (source: JsonObject): JsonObject => ({ type: 'image', source })
const document = (source: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'document', source, ...more })
const inline = (mimeType: string, data: string): JsonObject => ({ inlineData: { mimeType, data } })
const fileData = (fileUri: string, mimeType: string): JsonObject => ({ fileData: { fileUri, mimeType } })
const pdfFile = (filename: string): JsonObject => ({
  type: 'file',
  file: { filename, file_data: `data:application/pdf;base64,${PDF}` },
})
const pdfBytes = { type: 'base64', media_type: 'application/pdf', data: PDF }

const imageAsks = see(
  [imageUrl(`data:image/png;base64,${PNG}`)],
  [image({ type: 'base64', media_type: 'image/png', data: PNG })],
  [inline('image/png', PNG)],
)
const addressAsks = see([imageUrl(CAT)], [image({ type: 'url', url: CAT })], [fileData(CAT, 'image/png')])

const videoUrl = (url: string): JsonObject => ({ type: 'video_url', video_url: { url } })
const NONE = { refused: 'takes no video', because: 'the format has no videos' }
const NO_VIDEO = { answer: TEXT, pairs: { '*>messages': NONE, '*>chat-completions': NONE } }

const FILE_ID = {
  refused: 'Files cannot be named by id',
  because: 'an id of one provider means nothing to another, and what it costs is unknown before',
}

const call = { id: 'call_1', name: 'get_weather', input: { city: 'Oslo' } }
const geminiHistory = [
  { role: 'user', parts: [{ text: 'Weather?' }] },
  { role: 'model', parts: [{ functionCall: { id: call.id, name: call.name, args: call.input } }] },
]

export const media: Group = {
  name: 'Images and files',
  cases: [
    { name: 'image as bytes', asks: imageAsks, answer: TEXT },
    {
      name: 'image by address',
      asks: addressAsks,
      answer: TEXT,
      pairs: {
        '*>generate-content': {
          refused: 'does not fetch addresses',
          because: 'the provider fetches no addresses, and the gateway never does',
        },
      },
    },
    {
      name: 'image by address, for a provider that fetches',
      asks: addressAsks,
      quirks: { 'generate-content': ['file-uri'] },
      providers: ['generate-content'],
      answer: TEXT,
    },
    {
      name: 'image by address, for a provider without addresses',
      asks: addressAsks,
      quirks: { messages: ['no-url-sources'] },
      providers: ['messages'],
      answer: TEXT,
      pairs: {
        'messages>messages': { lost: AS_ASKED },
        '*>messages': {
          refused: 'addresses',
          because: 'the provider fetches no addresses, and the gateway never does',
        },
      },
    },
    {
      name: 'image with a level of detail',
      asks: see([imageUrl(CAT, { detail: 'low' })], undefined, undefined),
      golden: see(undefined, [image({ type: 'url', url: CAT })], [fileData(CAT, 'image/png')]),
      quirks: { 'generate-content': ['file-uri'] },
      answer: TEXT,
      pairs: { 'chat-completions>*': { lost: 'the other formats have no level of detail' } },
    },
    {
      name: 'image of a kind that not all providers take (TIFF)',
      asks: see(
        [imageUrl(`data:image/tiff;base64,${PNG}`)],
        [image({ type: 'base64', media_type: 'image/tiff', data: PNG })],
        [inline('image/tiff', PNG)],
      ),
      answer: TEXT,
      pairs: { '*>messages': { refused: 'JPEG, PNG, GIF or WebP' } },
    },
    {
      name: 'PDF as bytes',
      asks: see(
        [pdfFile('report.pdf')],
        [document(pdfBytes, { title: 'report.pdf' })],
        [inline('application/pdf', PDF)],
      ),
      answer: TEXT,
      pairs: {
        '*>generate-content': { lost: 'the format has no names of files' },
        'generate-content>chat-completions': { receives: { messages: [withText([pdfFile('file.pdf')])] } },
        'generate-content>messages': { receives: { messages: [withText([document(pdfBytes)])] } },
      },
    },
    {
      name: 'PDF by address',
      asks: see(
        undefined,
        [document({ type: 'url', url: 'https://example.com/report.pdf' })],
        [fileData('https://example.com/report.pdf', 'application/pdf')],
      ),
      answer: TEXT,
      pairs: {
        '*>chat-completions': { refused: 'cannot read a file from a URL' },
        '*>generate-content': { refused: 'does not fetch addresses' },
      },
    },
    {
      name: 'video as bytes',
      asks: see([videoUrl('data:video/mp4;base64,AAAA')], undefined, [inline('video/mp4', 'AAAA')]),
      ...NO_VIDEO,
    },
    {
      name: 'video by address',
      asks: see([videoUrl(CLIP)], undefined, [fileData(CLIP, 'video/mp4')]),
      quirks: { 'generate-content': ['file-uri'] },
      ...NO_VIDEO,
    },
    {
      name: 'text document',
      asks: see(
        undefined,
        [document({ type: 'text', media_type: 'text/plain', data: 'Once upon a time' }, { title: 'tale.txt' })],
        [inline('text/plain', Buffer.from('Once upon a time').toString('base64'))],
      ),
      golden: see([{ type: 'text', text: 'Once upon a time' }], undefined, undefined),
      answer: TEXT,
      pairs: {
        '*>chat-completions': { lost: 'becomes text of the message' },
        'messages>chat-completions': {
          receives: {
            messages: [withText([{ type: 'text', text: '<document name="tale.txt">\nOnce upon a time\n</document>' }])],
          },
        },
        'messages>generate-content': { lost: 'the format has no names of files' },
        'generate-content>messages': {
          receives: {
            messages: [withText([document({ type: 'text', media_type: 'text/plain', data: 'Once upon a time' })])],
          },
        },
      },
    },
    {
      name: 'audio',
      asks: see([{ type: 'input_audio', input_audio: { data: WAV, format: 'wav' } }], undefined, [
        inline('audio/wav', WAV),
      ]),
      answer: TEXT,
      pairs: { '*>messages': { refused: 'audio', because: 'the format has no audio' } },
    },
    {
      name: 'a provider’s own file id',
      asks: see(
        [{ type: 'file', file: { file_id: 'file-abc123' } }],
        [document({ type: 'file', file_id: 'file_011CNha8' })],
        [fileData('https://generativelanguage.googleapis.com/v1beta/files/abc', 'application/pdf')],
      ),
      answer: TEXT,
      pairs: {
        '*>*': FILE_ID,
        'chat-completions>chat-completions': FILE_ID,
        'messages>messages': FILE_ID,
        'generate-content>generate-content': FILE_ID,
      },
    },
    {
      name: 'a tool’s result with an image',
      asks: {
        messages: ask({
          messages: {
            tools: TOOLS.messages,
            messages: [
              { role: 'user', content: 'Weather?' },
              { role: 'assistant', content: [{ type: 'tool_use', ...call }] },
              {
                role: 'user',
                content: [
                  {
                    type: 'tool_result',
                    tool_use_id: call.id,
                    content: [
                      { type: 'text', text: 'A map' },
                      image({ type: 'base64', media_type: 'image/png', data: PNG }),
                    ],
                  },
                ],
              },
            ],
          },
        }).messages,
        'generate-content': ask({
          gemini: {
            tools: TOOLS.gemini,
            contents: [
              ...geminiHistory,
              {
                role: 'user',
                parts: [
                  {
                    functionResponse: {
                      id: call.id,
                      name: call.name,
                      response: { output: 'A map' },
                      parts: [inline('image/png', PNG)],
                    },
                  },
                ],
              },
            ],
          },
        })['generate-content'],
      },
      golden: {
        'chat-completions': ask({
          chat: {
            tools: TOOLS.chat,
            messages: [
              { role: 'user', content: 'Weather?' },
              {
                role: 'assistant',
                content: null,
                tool_calls: [
                  { id: call.id, type: 'function', function: { name: call.name, arguments: '{"city":"Oslo"}' } },
                ],
              },
              {
                role: 'tool',
                tool_call_id: call.id,
                content: 'A map\n[1 attached file(s) follow in the next user message]',
              },
              {
                role: 'user',
                content: [
                  { type: 'text', text: 'Files returned by tool get_weather (call_1):' },
                  imageUrl(`data:image/png;base64,${PNG}`),
                ],
              },
            ],
          },
        })['chat-completions'],
        'generate-content': ask({
          gemini: {
            tools: TOOLS.gemini,
            contents: [
              ...geminiHistory,
              {
                role: 'user',
                parts: [{ functionResponse: { id: call.id, name: call.name, response: { output: 'A map' } } }],
              },
              { role: 'user', parts: [inline('image/png', PNG)] },
            ],
          },
        })['generate-content'],
      },
      answer: TEXT,
      pairs: {
        '*>chat-completions': { lost: 'the image follows in a user message: results are text in this format' },
        '*>generate-content': { lost: 'the image follows in a user content, unless the provider takes it inside' },
      },
    },
  ],
}

function withText(parts: JsonObject[]): JsonObject {
  return { role: 'user', content: [...parts, { type: 'text', text: 'Describe it' }] }
}
