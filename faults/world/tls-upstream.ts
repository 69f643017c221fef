/** A provider with a certificate that nobody should trust: self-signed and for another host. */
import { completion, usageOf } from './scripts'
import { selfSigned } from './self-signed'

/** Starts it on a free loopback port. A request that it answers is a request that trusted it. */
export function startTlsUpstream(): { url: string; stop(): void } {
  const { key, certificate } = selfSigned('another-host.invalid')
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: certificate, key },
    fetch: () => Response.json(completion('trusted ', usageOf(1))),
  })
  return { url: `https://127.0.0.1:${server.port}`, stop: () => void server.stop(true) }
}
