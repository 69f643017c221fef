/** A proxy with nothing in it: `bun bare-proxy.ts PORT UPSTREAM_PORT`. What Bun's own server and client cost. */

const [port, upstreamPort] = process.argv.slice(2)
const upstream = `http://127.0.0.1:${upstreamPort}`

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(port),
  idleTimeout: 0,
  async fetch({ url, method, headers, body }) {
    const { pathname, search } = new URL(url)
    return fetch(upstream + pathname + search, { method, headers, body })
  },
})
