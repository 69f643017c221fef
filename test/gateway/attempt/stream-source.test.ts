/** A provider's bytes as events, at the reader's pace, however the bytes are split. */
import { describe, expect, test } from 'bun:test'
import { formatOf } from '@test/gateway/answer-parts'
import { chatChunk } from '@test/support/upstream'
import { letUpstreamClose, openStreamSource } from '@/gateway/attempt/stream-source'
import type { UpstreamAnswer } from '@/upstream/answer'

const format = formatOf('chat-completions')

function sourceOf(...pieces: string[]) {
  const seen = { reads: 0, aborted: false }
  const answer: Partial<UpstreamAnswer> = {
    async read() {
      const piece = pieces[seen.reads++]
      return piece === undefined ? { kind: 'done' } : { kind: 'bytes', bytes: new TextEncoder().encode(piece) }
    },
    abort() {
      seen.aborted = true
    },
  }
  return { seen, source: openStreamSource(answer as UpstreamAnswer, format) }
}

const line = `data: ${JSON.stringify(chatChunk({ content: 'Hi' }))}\n\n`

test('an event of a stream is returned once it is complete', async () => {
  const { seen, source } = sourceOf(line.slice(0, 20), line.slice(20) + line, line)
  const first = await source.next()
  expect(first.kind === 'items' && first.items.map((item) => item.sse.raw)).toEqual([line, line])
  expect(seen.reads).toBe(2)
})

test('a comment of a stream is returned as an item without events', async () => {
  const { source } = sourceOf(': still here\n\n')
  expect(await source.next()).toMatchObject({ kind: 'items', items: [{ json: undefined, events: [] }] })
})

describe('the end', () => {
  test('at the end, a block that the provider left open is closed', async () => {
    const { source } = sourceOf(line.trimEnd())
    const last = await source.next()
    expect(last.kind === 'items' && last.items[0]?.sse.raw).toBe(line)
    expect((await source.next()).kind).toBe('done')
  })

  test('a stream that ends without the provider’s terminator has no normal end', async () => {
    const { source } = sourceOf(line)
    await source.next()
    const end = await source.next()
    expect(end.kind === 'done' && end.events.some((event) => event.type === 'end')).toBe(false)
  })
})

test('an endless event fails the call', async () => {
  const { seen, source } = sourceOf(`data: ${'x'.repeat(17 * 1024 * 1024)}`)
  expect(await source.next()).toMatchObject({ kind: 'failed', failure: { kind: 'malformed' } })
  expect(seen.aborted).toBe(true)
})

test('after its terminator a provider may close the connection without a fault', async () => {
  const { seen, source } = sourceOf(line, line)
  await letUpstreamClose(source)
  expect(seen).toEqual({ reads: 3, aborted: false })
})
