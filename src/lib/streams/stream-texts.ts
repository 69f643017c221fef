/** A stream of texts that are made as they are read. */

/** Approximate characters of one chunk. */
const CHUNK_CHARS = 64 * 1024

/** Streams `texts` as UTF-8 in larger chunks, made only when they are read. */
export function streamTexts(texts: Iterator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        let chunk = ''
        let next = texts.next()
        for (; !next.done; next = texts.next()) {
          chunk += next.value
          if (chunk.length >= CHUNK_CHARS) break
        }
        if (chunk !== '') controller.enqueue(encoder.encode(chunk))
        if (next.done) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}
