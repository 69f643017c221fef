/** Streams `pieces`; each is made only when the client reads it. If the client disconnects, no more are made. */
export function streamBytes(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await pieces.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
