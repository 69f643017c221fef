/** A response body made of parts: complete, in order, and made only as fast as it is read. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { until } from '@test/support/until'
import { responseBody } from '@/gateway/embed/response-body'

/** Of a client that does not leave. */
const STAYS = new AbortController().signal
const LONG = Array.from({ length: 100 }, () => 'x'.repeat(100_000))

test('an embeddings body has all its parts in order, texts and bytes', async () => {
  const piece = fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array({ maxLength: 50 }))
  await fc.assert(
    fc.asyncProperty(fc.array(piece), async (pieces) => {
      const expected = Buffer.concat(pieces.map((each) => Buffer.from(each as string)))
      expect(Buffer.from(await new Response(responseBody(pieces, STAYS, () => {})).arrayBuffer())).toEqual(expected)
    }),
  )
})

test('the body of a long answer is made while the client reads it', async () => {
  let made = 0
  function* pieces(): Generator<string> {
    for (; made < 100; made++) yield 'x'.repeat(100_000)
  }
  const response = new Response(responseBody(pieces(), STAYS, () => {}))
  expect(made).toBeLessThan(20)
  expect((await response.text()).length).toBe(10_000_000)
})

describe('the callback at the end of a body', () => {
  const ended = () => {
    let count = 0
    return { onEnd: () => void count++, count: () => count }
  }

  test('the callback at a body’s end runs at once for a short answer, and after the last read for a long one', async () => {
    const [short, long] = [ended(), ended()]
    responseBody(['x'], STAYS, short.onEnd)
    expect(short.count()).toBe(1)
    const response = new Response(responseBody(LONG, STAYS, long.onEnd))
    expect(long.count()).toBe(0)
    await response.text()
    expect(long.count()).toBe(1)
  })

  test('the callback at a body’s end runs if the client disconnects during or before reading', async () => {
    const [reading, before] = [ended(), ended()]
    const body = responseBody(LONG, STAYS, reading.onEnd) as ReadableStream
    await body.cancel()
    expect(reading.count()).toBe(1)
    const leaving = new AbortController()
    responseBody(LONG, leaving.signal, before.onEnd)
    leaving.abort()
    expect(before.count()).toBe(1)
  })

  test('the callback at a body’s end runs if the client reads nothing for too long and is disconnected', async () => {
    const unread = ended()
    const response = new Response(responseBody(LONG, STAYS, unread.onEnd, 1))
    await until(() => unread.count() === 1, 'it to be cut off')
    await expect(response.text()).rejects.toThrow('takes nothing')
  })
})
