/** Splits a byte stream into lines of text: how the processes of a run talk to each other. */

/** The lines of `stream` as they come; one without its end at the end is dropped. */
export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
