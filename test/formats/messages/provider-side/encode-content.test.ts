/** Images and files, encoded for messages providers: sent, refused, or replaced by a text that names them. */
import { expect, test } from 'bun:test'
import { chatRequest, complaint, traits } from '@test/formats/messages/support'
import type { ModelBlock, TextBlock, Turn, UserBlock } from '@/chat/request'
import { messages } from '@/formats/messages/index'
import type { JsonObject } from '@/lib/json'

const text = (value: string): TextBlock => ({ type: 'text', text: value })
const user = (...content: UserBlock[]): Turn => ({ role: 'user', content })
const assistant = (...content: ModelBlock[]): Turn => ({ role: 'assistant', content })

function encode(turns: Turn[], ...quirks: string[]) {
  const { body, warnings } = messages.encodeRequest(chatRequest({ turns }), traits(...quirks))
  return { messages: body.messages as JsonObject[], features: warnings.map((warning) => warning.feature) }
}

const userBlock = (block: UserBlock, ...quirks: string[]) => encode([user(block)], ...quirks).messages[0]?.content

test.each<[UserBlock, JsonObject]>([
  [
    { type: 'image', source: { type: 'url', url: 'data:image/jpg;base64,AAAA' } },
    { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
  ],
  [
    { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' }, cache: { ttl: '5m' } },
    {
      type: 'image',
      source: { type: 'url', url: 'https://example.org/a.png' },
      cache_control: { type: 'ephemeral' },
    },
  ],
  [
    {
      type: 'file',
      source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBE' },
      filename: 'a.pdf',
      context: 'c',
    },
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
      title: 'a.pdf',
      context: 'c',
    },
  ],
  [
    { type: 'file', source: { type: 'base64', mediaType: 'text/csv', data: Buffer.from('a,é').toString('base64') } },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,é' } },
  ],
  [
    { type: 'file', source: { type: 'url', url: 'data:text/plain,a%20b' } },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a b' } },
  ],
  [
    { type: 'file', source: { type: 'base64', mediaType: 'image/png', data: 'AA' } },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
  ],
  [
    { type: 'file', source: { type: 'url', url: 'https://example.org/a', mediaType: 'image/png' } },
    { type: 'image', source: { type: 'url', url: 'https://example.org/a' } },
  ],
  [
    { type: 'file', source: { type: 'text', text: 'words', mediaType: 'text/plain' } },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
  ],
  [
    { type: 'file', source: { type: 'file-id', id: 'file_1', format: 'messages' } },
    { type: 'document', source: { type: 'file', file_id: 'file_1' } },
  ],
])('content is encoded: %j', (block, expected) => {
  expect(userBlock(block)).toEqual([expected])
})

test.each<[UserBlock, string[]]>([
  [{ type: 'image', source: { type: 'base64', mediaType: 'image/tiff', data: 'AA' } }, []],
  [{ type: 'image', source: { type: 'url', url: 'gs://bucket/a.png' } }, []],
  [{ type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } }, ['no-url-sources']],
  [{ type: 'file', source: { type: 'file-id', id: 'f', format: 'chat-completions' } }, []],
  [{ type: 'file', source: { type: 'base64', mediaType: 'application/zip', data: 'AA' } }, []],
  [{ type: 'file', source: { type: 'url', url: 'data:text/plain,%' } }, []],
])('content is refused: %j', (block, quirks) => {
  expect(complaint(() => userBlock(block, ...quirks)).param).toBe('messages')
})

test('media of an assistant turn is sent in the next user message', () => {
  const image: UserBlock = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AA' } }
  const { messages: encoded, features } = encode([user(text('draw')), assistant(image), user(text('more'))])
  expect(encoded.slice(1)).toEqual([
    { role: 'assistant', content: '[1 attached file(s) follow in the next user message]' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Files from your last message:' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
        { type: 'text', text: 'more' },
      ],
    },
  ])
  expect(features).toEqual([])
})
