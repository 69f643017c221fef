/** Every end of every paid request writes exactly one log line, in all formats, without content. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { MAX_OF_NETWORK } from '@/http/request-log/request-log'
import { CANARY, DIALECTS, type Dialect, ENDINGS, type Ending, read, said, senderOf, world } from './endings'

type Line = Record<string, unknown> & { event: string; requestId: string; status: number }

let gateway: TestGateway
let customer: Customer
let poor: Customer

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion(CANARY)),
    environment: { MAX_BODY_BYTES: '20000', TRUSTED_PROXY_HOPS: '1' },
    catalog(file) {
      const [alpha] = file.models
      const pricing = { inputPer1mTokens: 1 }
      const embed = { id: 'svc/embed', kind: 'embedding', name: 'Embed', contextLength: 8_192, pricing }
      file.models.push({
        ...{ created: alpha?.created, ownedBy: 'provider1', ...embed },
        targets: [{ provider: 'provider1', model: 'embed-upstream' }],
      })
    },
  })
  customer = await gateway.customer('10')
  poor = await gateway.customer('0')
  Object.assign(world, { gateway, customer, poor })
})
afterAll(async () => {
  const { logLines } = gateway
  await gateway.stop()
  expect(logLines.join('')).not.toContain('canary')
  for (const { key } of [customer, poor]) expect(logLines.join('')).not.toContain(key)
})

const isLine = (line: string) => /"event":"(chat|embedding|count|route)"/.test(line)
const lines = (): Line[] => gateway.logLines.filter(isLine).map((line) => JSON.parse(line))

describe.each(Object.keys(DIALECTS))('the log line of a refusal, %s:', (name) => {
  const dialect = DIALECTS[name] as Dialect
  const isChat = dialect.event === 'chat'
  const possible = Object.keys(ENDINGS).filter((ending) => isChat || !ENDINGS[ending]?.isOfChats)

  test.each(possible)('a request that is %s has a log line', async (ending) => {
    const { status: one, says, act, isStranger } = ENDINGS[ending] as Ending
    const status = typeof one === 'number' ? one : one(dialect)
    const before = lines().length
    await act(senderOf(dialect, `10.0.1.${Object.keys(DIALECTS).indexOf(name)}`), dialect)
    const line = await until(
      () =>
        lines()
          .slice(before)
          .find((line) => matches(line, status, ending)),
      'its line',
    )
    expect(line).toMatchObject({
      ...{ event: dialect.event, format: isChat ? name : 'chat-completions', status, level: 'info' },
      ...{ requestId: expect.stringMatching(/^req_/), durationMs: expect.any(Number), ...says },
    })
    const isStream = line.stream === true
    expect(line.route).toBe(dialect.route(line.stream === undefined && ending.includes('stream') ? true : isStream))
    const { accountId, keyId } = line
    if (isStranger) expect([accountId, keyId]).toEqual([undefined, undefined])
    else expect([accountId, keyId]).toEqual([expect.stringMatching(/^acct_/), expect.stringMatching(/^key_/)])
  })
})

/** The first of two that an ending needs is answered, and not what it is about. */
function matches(line: Line, status: number, ending: string): boolean {
  return line.status === status && (ending !== 'given an earlier answer again' || line.replayOf !== undefined)
}

test('each request of this test has exactly one log line', async () => {
  const times = new Map<string, number>()
  for (const { requestId } of lines()) times.set(requestId, (times.get(requestId) ?? 0) + 1)
  expect([...times].filter(([, count]) => count !== 1)).toEqual([])
  expect(times.size).toBeGreaterThan(80)
})

describe('free requests', () => {
  const post = (path: string, body: object, key = customer.key) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-forwarded-for': '10.0.0.2' },
      body: JSON.stringify(body),
    })

  test.each([
    ['count', '/v1/messages/count_tokens', { model: 'svc/alpha', messages: said }],
    ['count', '/v1/responses/input_tokens', { model: 'svc/alpha', input: CANARY }],
    ['route', '/v1/route', { model: 'svc/alpha', messages: said }],
  ])('a free request %s at %s has a log line', async (event, route, body) => {
    const answer = await post(route, body)
    expect(answer.status).toBe(200)
    const ofThis = (answered: Response) =>
      lines().filter((one) => one.requestId === answered.headers.get('x-request-id'))
    const { accountId, keyId } = customer
    expect(ofThis(answer)).toMatchObject([{ event, route, status: 200, accountId, keyId, requestedModel: 'svc/alpha' }])
    const refused = await post(route, { ...body, model: 'svc/nobody' })
    expect(ofThis(refused)).toMatchObject([{ event, route, status: 404, error: 'model_not_found', accountId }])
  })

  test('an operation that is not offered has a log line: compaction, or a WebSocket', async () => {
    const before = lines().length
    expect((await post('/v1/responses/compact', {})).status).toBe(400)
    const upgrade = { connection: 'upgrade', upgrade: 'websocket', 'x-forwarded-for': '10.0.0.2' }
    expect((await fetch(`${gateway.url}/v1/responses`, { headers: upgrade })).status).toBe(426)
    expect(lines().slice(before)).toMatchObject([
      { event: 'chat', route: '/v1/responses/compact', status: 400, accountId: customer.accountId },
      { event: 'chat', route: '/v1/responses', status: 426 },
    ])
  })
})

test('in a flood by unknown clients, some requests of each network are logged and the rest is counted', async () => {
  const flood = MAX_OF_NETWORK + 30
  const before = lines().length
  const send = senderOf(DIALECTS.messages as Dialect, '10.9.9.9')
  for (let sent = 0; sent < flood; sent++) await read(send({ key: 'svc-nobody' }))
  const written = lines().slice(before)
  expect(written.length).toBeGreaterThan(0)
  expect(written.length).toBeLessThanOrEqual(2 * MAX_OF_NETWORK)
  gateway.gateway.deps.requestLog.stop()
  const counts = gateway.logLines
    .filter((line) => line.includes('request_lines_left_out'))
    .map((line) => JSON.parse(line))
  // A flood that lasts longer than a window is told in several lines.
  for (const count of counts) expect(count).toMatchObject({ ofStrangers: count.lines, byStatus: { 401: count.lines } })
  expect(counts.reduce((sum, { lines }) => sum + lines, 0)).toBe(flood - written.length)
})
