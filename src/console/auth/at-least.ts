/** Delays responses to a minimum time, so that the response time doesn't reveal the result. */

/** Runs `work`. An error is thrown after at least `ms` milliseconds. */
export async function atLeast<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + ms
  try {
    return await work()
  } catch (error) {
    await waitUntil(until)
    throw error
  }
}

/** Runs `work`. The result or the error comes after at least `ms` milliseconds. */
export async function alwaysAtLeast<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + ms
  try {
    return await work()
  } finally {
    await waitUntil(until)
  }
}

async function waitUntil(time: number): Promise<void> {
  const left = time - performance.now()
  if (left > 0) await Bun.sleep(left)
}
