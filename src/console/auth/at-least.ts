/** Keeps the answers of sign-in from telling by their time which way they went. */

/** Does `work`; if it fails, not before `ms` milliseconds have passed. */
export async function atLeast<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + ms
  try {
    return await work()
  } catch (error) {
    await waitUntil(until)
    throw error
  }
}

/** Does `work`, and takes at least `ms` milliseconds whatever comes of it. */
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
