/** Answers that a page of the dashboard gets late: long after the server has given them, and after others that it gave later. */
import type { Page, Request } from 'playwright-core'

interface HeldAnswer {
  /** Resolves once the server has given the answer. */
  readonly given: Promise<void>
  /** Lets the page have it, and waits until it has read it. */
  release(): Promise<void>
}

/** Holds back the next answer to `method` of the path that ends with `path`; those after it go through. */
export async function holdAnswer(page: Page, method: string, path: string): Promise<HeldAnswer> {
  const given = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  let isHeld = false
  await page.route('**/dashboard/api/**', async (route, request) => {
    if (isHeld || !isMeant(method, path, request)) return route.fallback()
    isHeld = true
    const response = await route.fetch()
    given.resolve()
    await released.promise
    return route.fulfill({ response })
  })
  return {
    given: given.promise,
    async release() {
      const read = page.waitForEvent('requestfinished', (one) => isMeant(method, path, one))
      released.resolve()
      await read
      await settled(page)
    },
  }
}

/** Counts what the page asks for by `method` of the path that ends with `path`, up to now. */
export function countRequests(page: Page, method: string, path: string): () => number {
  let count = 0
  page.on('request', (request) => {
    if (isMeant(method, path, request)) count += 1
  })
  return () => count
}

/** Waits until the page has drawn what it has. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestIdleCallback(done)).then(() => undefined))
}

function isMeant(method: string, path: string, request: Request): boolean {
  return request.method() === method && new URL(request.url()).pathname.endsWith(path)
}
