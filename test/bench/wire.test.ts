/** The benchmark's wire format: answers and requests split at any byte, time stamps, and the bytes of a request. */
import { describe, expect, test } from 'bun:test'
import { createAnswerReader } from '@bench/load/answer-reader'
import type { Shot } from '@bench/load/job'
import { requestBytes } from '@bench/load/request-bytes'
import { readStamps, STAMP_PLACE, stampText } from '@bench/load/stamps'
import { ANSWERS } from '@bench/mock/answers'
import { createRequestReader, readAsked } from '@bench/mock/request-reader'

const SHOT: Shot = {
  ...{ port: 80, path: '/v1/chat/completions', headers: { 'x-more': '1' }, keys: [], format: 'chat-completions' },
  ...{ model: 'json', stream: false, pieces: 0, promptBytes: 1024 },
}

function cutAt(bytes: Buffer, at: number): [Buffer, Buffer] {
  return [Buffer.from(bytes.subarray(0, at)), Buffer.from(bytes.subarray(at))]
}

describe('the reader of answers', () => {
  const whole = {
    'with a length': Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'),
    'in chunks': Buffer.from(
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\n\r\n',
    ),
    'without a body': Buffer.from('HTTP/1.1 503 Sorry\r\ncontent-length: 0\r\n\r\n'),
  }

  test.each(Object.entries(whole))(
    'the answer reader finds the end of an answer %s, wherever the bytes are cut',
    (_, bytes) => {
      for (let at = 1; at < bytes.length; at++) {
        const reader = createAnswerReader()
        const [head, rest] = cutAt(bytes, at)
        expect(reader.push(head)).toBe(false)
        expect(reader.push(rest)).toBe(true)
        expect(reader.status()).toBe(bytes.includes('503') ? 503 : 200)
      }
    },
  )

  test('the answer reader reads one answer after another', () => {
    const reader = createAnswerReader()
    expect(reader.push(whole['in chunks'])).toBe(true)
    reader.reset()
    expect(reader.status()).toBe(0)
    expect(reader.push(whole['with a length'])).toBe(true)
  })
})

describe('the reader of requests', () => {
  test('the request reader finds the end and the model of a request, wherever the bytes are cut', () => {
    const [bytes] = requestBytes({ ...SHOT, stream: true, model: 'stream-3-10' }) as [Buffer]
    for (let at = 1; at < bytes.length; at += 7) {
      const reader = createRequestReader()
      const [head, rest] = cutAt(bytes, at)
      expect(reader.push(head)).toBeUndefined()
      expect(reader.push(rest)).toEqual({ format: 'chat-completions', model: 'stream-3-10', stream: true })
    }
  })

  test('the request reader accepts chunked bodies, and one body after another', () => {
    const reader = createRequestReader()
    const body = '{"model": "json", "stream": true}'
    const head = 'POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n'
    const bytes = Buffer.from(`${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
    const asked = { format: 'messages', model: 'json', stream: true } as const
    expect(reader.push(bytes)).toEqual(asked)
    expect(reader.push(bytes)).toEqual(asked)
  })

  test('the request reader finds a model name after a long prompt, and in a path', () => {
    const long = Buffer.from(JSON.stringify({ messages: 'x'.repeat(100_000), model: 'last', stream: false }))
    expect(readAsked('/v1/chat/completions', long)).toEqual({
      format: 'chat-completions',
      model: 'last',
      stream: false,
    })
    expect(readAsked('/v1beta/models/stream-1-2:streamGenerateContent?alt=sse', Buffer.alloc(0))).toEqual({
      ...{ format: 'generate-content', model: 'stream-1-2', stream: true },
    })
  })
})

describe('stamps', () => {
  test('time stamps are found anywhere in a stream; a stamp that is cut counts without its time', () => {
    const at = 1_760_000_000_123.457
    const text = `{"text":"${stampText(at)} "}`
    const found: number[] = []
    readStamps(Buffer.from(`${text}${text}`), (sentAtMs) => found.push(sentAtMs))
    readStamps(Buffer.from(text.slice(0, 20)), (sentAtMs) => found.push(sentAtMs))
    expect(found).toEqual([at, at, Number.NaN])
  })

  test('time stamps fill their place in every prepared chunk exactly', () => {
    expect(stampText(Date.now())).toHaveLength(STAMP_PLACE.length)
    for (const { stream } of Object.values(ANSWERS)) {
      expect(stream.piece.toString('latin1', stream.stampAt, stream.stampAt + STAMP_PLACE.length)).toBe(STAMP_PLACE)
    }
  })
})

describe('requests', () => {
  test('prepared requests use the keys in turn, and have a correct content length', () => {
    const keyed = { ...SHOT, keyHeader: { name: 'authorization', prefix: 'Bearer ' }, keys: ['one', 'two'] }
    const requests = requestBytes(keyed).map(String)
    expect(requests.map((text) => /authorization: Bearer (\w+)\r\n/.exec(text)?.[1])).toEqual(['one', 'two'])
    for (const text of requests) {
      const [head = '', body = ''] = text.split('\r\n\r\n')
      expect(Number(/content-length: (\d+)/.exec(head)?.[1])).toBe(Buffer.byteLength(body))
      expect(JSON.parse(body).messages[0].content).toHaveLength(1024)
    }
  })

  test('only few requests with large prompts are prepared, whatever the number of keys', () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `key-${index}`)
    const large = { ...SHOT, promptBytes: 100_000, keyHeader: { name: 'x-api-key', prefix: '' }, keys }
    expect(requestBytes(large).length).toBeLessThan(32)
  })
})
