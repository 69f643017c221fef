/** A body out of pieces: all of them, in their order, however many there are, and made only as fast as they are read. */
import { expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { responseBody } from '@/gateway/embed/response-body'

test('holds all pieces in their order, texts and bytes alike', async () => {
  const piece = fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array({ maxLength: 50 }))
  await fc.assert(
    fc.asyncProperty(fc.array(piece), async (pieces) => {
      const expected = Buffer.concat(pieces.map((each) => Buffer.from(each as string)))
      expect(Buffer.from(await new Response(responseBody(pieces)).arrayBuffer())).toEqual(expected)
    }),
  )
})

test('of a long answer is made while it is read', async () => {
  let made = 0
  function* pieces(): Generator<string> {
    for (; made < 100; made++) yield 'x'.repeat(100_000)
  }
  const response = new Response(responseBody(pieces()))
  expect(made).toBeLessThan(20)
  expect((await response.text()).length).toBe(10_000_000)
})
