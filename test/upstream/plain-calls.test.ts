/** Requests to providers without a dialect, byte for byte: the code for clouds does not change them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { FormatName } from '@/chat/format-name'
import { callUpstream } from '@/upstream/client'
import { callOf, head, type RawProvider, startRawProvider } from './raw-provider'

const BODY = '{"model":"upstream-model","text":"Gr\\u00fc\\u00dfe 1.0 -0"}'

/** The address of a whole answer and of a stream, and the headers of the format. */
const FORMATS: Readonly<Record<FormatName, { paths: [whole: string, stream: string]; headers: string[] }>> = {
  'chat-completions': {
    paths: ['/chat/completions', '/chat/completions'],
    headers: ['authorization: Bearer secret0'],
  },
  messages: {
    paths: ['/v1/messages', '/v1/messages'],
    headers: ['anthropic-version: 2023-06-01', 'x-api-key: secret0'],
  },
  'generate-content': {
    paths: [
      '/v1beta/models/upstream-model:generateContent',
      '/v1beta/models/upstream-model:streamGenerateContent?alt=sse',
    ],
    headers: ['x-goog-api-key: secret0'],
  },
  responses: { paths: ['/responses', '/responses'], headers: ['authorization: Bearer secret0'] },
}
const CALLS = Object.entries(FORMATS).flatMap(([name, { paths, headers }]) =>
  paths.map((path, index) => [name as FormatName, index === 1, path, headers] as const),
)

let provider: RawProvider
beforeAll(() => {
  provider = startRawProvider((socket) => void socket.write(`${head(200, { 'content-length': '2' })}{}`))
})
afterAll(() => provider.stop())

describe('E2: a provider without a dialect', () => {
  test.each(CALLS)(
    'a provider of %s without a dialect (stream: %p) is called at %s',
    async (formatName, stream, path, own) => {
      const sent = provider.requests.length
      const answer = await callUpstream(callOf(provider.url, { formatName, stream, bodyText: BODY }))
      expect(answer.kind).toBe('answer')
      const [text = ''] = provider.requests.slice(sent)
      const at = text.indexOf('\r\n\r\n')
      const [line, ...lines] = text.slice(0, at).split('\r\n')
      expect(line).toBe(`POST ${path} HTTP/1.1`)
      expect(text.slice(at + 4)).toBe(BODY)
      const lower = lines.map((header) => header.replace(/^[^:]+/, (name) => name.toLowerCase()))
      expect(lower.toSorted()).toEqual(
        [
          ...own,
          ...['accept-encoding: identity', 'content-type: application/json', 'user-agent: svc-gateway'],
          ...[`accept: ${stream ? 'text/event-stream' : 'application/json'}`, 'connection: keep-alive'],
          ...[`content-length: ${BODY.length}`, `host: ${new URL(provider.url).host}`],
        ].toSorted(),
      )
    },
  )

  test('a provider without a dialect has no own authorization or decoding', () => {
    for (const name of Object.keys(FORMATS) as FormatName[]) {
      const { dialect } = callOf(provider.url, { formatName: name }).target.provider
      expect(Object.keys(dialect)).not.toContainAnyValues(['authorizer', 'envelope', 'readAnswer', 'decodeError'])
    }
  })
})
