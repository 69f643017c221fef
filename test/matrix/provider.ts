/** The provider of a cell: answers with a fixture, in the form and the bytes that the case wants. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FormatName } from '@/chat/format-name'
import type { Answer } from './types'

const FIXTURES = join(import.meta.dir, '..', 'fixtures')
const cache = new Map<string, string>()

/** The answer to a request that did (or did not) ask for a stream. */
export function respondWith(answer: Answer, format: FormatName, isStreamWanted: boolean): Response {
  const { status = 200, form = isStreamWanted ? 'stream' : 'json', headers } = answer
  if (status !== 200 || form === 'json') {
    const text = readFixture(format, `${answer.fixture}.json`)
    return new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } })
  }
  const text = withLineEnds(readFixture(format, `${answer.fixture}.sse`), answer.lineEnd)
  const body = answer.bytewise ? byteByByte(text) : text
  return new Response(body, { headers: { 'content-type': 'text/event-stream', ...headers } })
}

/** The text of a fixture of a format. */
export function readFixture(format: FormatName, name: string): string {
  const path = join(FIXTURES, format, name)
  const known = cache.get(path)
  if (known !== undefined) return known
  const text = readFileSync(path, 'utf8')
  cache.set(path, text)
  return text
}

function withLineEnds(text: string, lineEnd: Answer['lineEnd']): string {
  return lineEnd === undefined ? text : text.replaceAll('\r\n', '\n').replaceAll('\n', lineEnd)
}

/** Hands out one byte at a time, so that nothing but the reader can put characters and lines together again. */
function byteByByte(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (at === bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, ++at))
      await new Promise((resolve) => setImmediate(resolve))
    },
  })
}
