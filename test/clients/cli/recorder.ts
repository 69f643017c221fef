/** Stands between a client and the gateway, changes nothing, and remembers what was asked and with which status it was answered. */

export type Recorded = { method: string; path: string; status: number }

interface Recorder {
  readonly url: string
  readonly requests: Recorded[]
  stop(): void
}

/** Starts a recorder in front of `target` on a free loopback port. */
export function startRecorder(target: string): Recorder {
  const requests: Recorded[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const response = await fetch(target + pathname + search, {
        method: request.method,
        headers: request.headers,
        body: request.body,
        signal: request.signal,
        decompress: false,
      })
      requests.push({ method: request.method, path: pathname + search, status: response.status })
      return response
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, requests, stop: () => void server.stop(true) }
}
