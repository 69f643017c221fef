/** Silence on a connection: it ends a stranger's, and nobody's who has said who they are, whatever route they ask. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from 'node:net'
import { dashboardRoutesOf, fillPath, nameOf } from '@test/console/http/routes'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { serve } from '@/boot/serve'
import { loadConfig } from '@/config/config'
import { rememberHost } from '@/http/silence'
import { assert } from '@/lib/assert'

setDefaultTimeout(60_000)

const CHAT = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }
const IDLE_SECONDS = 1

let gateway: TestGateway
let customer: Customer
let admin: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
  customer = await gateway.customer('1')
  admin = await signUpPerson(gateway, { role: 'admin' })
})
afterAll(() => gateway.stop())

test('a connection that says nothing is closed, while an answer that is long in coming still comes', async () => {
  const loaded = loadConfig({ HOST: '127.0.0.1', PORT: '0' })
  assert(loaded.kind === 'loaded', 'the configuration is sound')
  const server = serve(loaded.config, gateway.gateway.app, IDLE_SECONDS)
  const provider = Promise.withResolvers<Response>()
  gateway.upstream.respond(() => provider.promise)
  const asked = gateway.upstream.calls.length
  const answer = fetch(`http://127.0.0.1:${server.port}/v1/chat/completions`, chatBy(`Bearer ${customer.key}`))
  await until(() => gateway.upstream.calls.length > asked, 'the provider to be asked')
  // From here on both are silent for the same time; the stranger has announced a body and does not send it.
  const stranger = connect(server.port ?? 0, '127.0.0.1')
  const isClosed = Promise.withResolvers<void>()
  stranger.on('close', () => isClosed.resolve())
  stranger.write(
    'POST /dashboard/api/session/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
  )
  await isClosed.promise
  provider.resolve(Response.json(chatCompletion('At last')))
  expect(await (await answer).text()).toContain('At last')
  await server.stop(true)
})

function chatBy(authorization: string, body: object = CHAT): RequestInit {
  const headers = { authorization, 'content-type': 'application/json', cookie: admin.cookie, origin: gateway.url }
  return { method: 'POST', headers, body: JSON.stringify(body) }
}

/** Whether the application lets this request outlast silence, and what it answers. */
async function ask(path: string, init: RequestInit): Promise<{ status: number; isLifted: boolean }> {
  const limits: number[] = []
  const request = new Request(`${gateway.url}${path}`, init)
  rememberHost(request, { timeout: (_, seconds) => limits.push(seconds) })
  const response = await gateway.gateway.app.handle(request)
  await response.body?.cancel()
  return { status: response.status, isLifted: limits.includes(0) }
}

describe('whoever is known may be kept waiting', () => {
  test.each([
    ['/v1/chat/completions', CHAT],
    ['/v1/messages', { ...CHAT, max_tokens: 9 }],
    ['/v1/messages/count_tokens', CHAT],
    ['/v1beta/models/svc/alpha:streamGenerateContent', { contents: [{ parts: [{ text: 'Hi' }] }] }],
    ['/v1/route', CHAT],
  ])('at %s, and a stranger may not', async (path, body) => {
    gateway.upstream.respond(() => Response.json(chatCompletion('Hello')))
    expect(await ask(path, chatBy(`Bearer ${customer.key}`, body))).toEqual({ status: 200, isLifted: true })
    expect(await ask(path, chatBy('Bearer svc-nobody', body))).toEqual({ status: 401, isLifted: false })
  })

  test('in the playground', async () => {
    const { isLifted } = await ask('/dashboard/api/playground/chat', chatBy('Bearer none'))
    expect(isLifted).toBe(true)
  })

  test('at every page of the dashboard that a stranger does not see, however many there will be', async () => {
    const pages = dashboardRoutesOf(gateway).filter(({ method }) => method === 'GET')
    expect(pages.map(nameOf)).toContain('GET /dashboard/api/events')
    for (const page of pages) {
      const path = fillPath(page.path, {})
      const [stranger, known] = [await ask(path, {}), await ask(path, { headers: { cookie: admin.cookie } })]
      const isOpenToAll = stranger.status !== 401
      expect([nameOf(page), stranger.isLifted, known.isLifted]).toEqual([nameOf(page), false, !isOpenToAll])
    }
  })
})
