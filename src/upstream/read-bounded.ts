/** Reads what a provider says with an error: its beginning is enough, and what is cut short is better than nothing. */

/** Reads at most `limit` bytes of a body; the rest is dropped. A body that breaks yields what had come. */
export async function readBounded(response: Response, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk.subarray(0, limit - size))
      size += chunk.length
      if (size >= limit) break
    }
  } catch {
    // What arrived before the break is all there is to say about the error.
  }
  return Buffer.concat(chunks)
}
