/** Clients that disconnect while they send a request: no unexpected error, and no log line for the operator. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { startGateway } from '@test/support/gateway'
import { openRaw, rawRequest } from '@test/support/raw-connection'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { GatewayError } from '@/chat/error'
import { readJsonBody } from '@/http/body'

type Outcome = { error: unknown }

let server: Bun.Server<undefined>
let outcomes: Outcome[] = []

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      await readJsonBody(request, { maxBodyBytes: 10_000, maxJsonDepth: 10 }).catch((error: unknown) =>
        outcomes.push({ error }),
      )
      return new Response()
    },
  })
})
afterAll(() => server.stop(true))

test.each(['content-length: 500', 'transfer-encoding: chunked'])(
  'half a body with %s counts as the caller’s fault',
  async (header) => {
    outcomes = []
    const socket = connect({ host: '127.0.0.1', port: server.port ?? 0 })
    socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${header}\r\n\r\n5\r\n{"a":\r\n`)
    await until(() => server.pendingRequests > 0, 'the request to be there')
    socket.destroy()
    await until(() => outcomes.length > 0, 'the end of the request')
    expect(outcomes[0]?.error).toBeInstanceOf(GatewayError)
  },
)

test('a second request sent before the first one’s answer ends the connection, and neither is charged', async () => {
  const gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
  try {
    const { key, accountId } = await gateway.customer('1')
    const body = JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] })
    const headers = {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      'content-length': String(body.length),
    }
    const request = rawRequest('POST /v1/chat/completions', headers, body)
    const connection = openRaw(gateway.url, request + request)
    await connection.closed
    expect(connection.received()).toBe('')
    await until(async () => (await gateway.balance(accountId)).held === 0, 'nothing to be held')
    expect((await gateway.balance(accountId)).spent as number).toBe(0)
  } finally {
    await gateway.stop()
  }
})
