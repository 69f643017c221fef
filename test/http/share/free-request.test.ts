/** Limits on free requests with a body: it is not read if the account has used up its share, or has no credit for a large body. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { openRaw, rawRequest } from '@test/support/raw-connection'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { assert } from '@/lib/assert'
import { systemClock } from '@/lib/clock'
import { SHARED } from '@/limits/shared-resources'

const MIB = 1024 * 1024
const FREE_PER_MINUTE = SHARED.freeAnswers.perAccount
const PATHS = [
  '/v1/messages/count_tokens',
  '/v1/responses/input_tokens',
  '/v1/route',
  '/v1beta/models/svc%2Falpha:countTokens',
] as const

let gateway: TestGateway
/** The gateway's clock stands still: a minute's worth is no more, however long its requests take. */
const monotonic = spyOn(systemClock, 'monotonic').mockReturnValue(0)

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    catalog(file) {
      file.limits.requestsPerMinute = 10
    },
  })
})
afterAll(async () => {
  monotonic.mockRestore()
  await gateway.stop()
})

/** What is answered to the first byte of a body. */
async function answerUnread(path: string, key: string, length: Record<string, string>): Promise<string> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json', ...length }
  const connection = openRaw(
    gateway.url,
    rawRequest(`POST ${path}`, headers, 'transfer-encoding' in length ? '1\r\n{\r\n' : '{'),
  )
  const answer = await until(() => connection.received(), 'an answer')
  connection.end()
  return answer.slice(9, 12)
}

const large = { 'content-length': String(4 * MIB) }

function count({ key }: Customer, body: string): Promise<Response> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  return fetch(`${gateway.url}/v1/messages/count_tokens`, { method: 'POST', headers, body })
}

const SMALL = JSON.stringify({ model: 'svc/alpha', max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] })

describe('an account', () => {
  test.each(PATHS)(
    'no large body of an account without credit is read at %s, whatever length it announces',
    async (path) => {
      const { key } = await gateway.customer('0')
      expect(await answerUnread(path, key, large)).toBe('402')
      expect(await answerUnread(path, key, { 'transfer-encoding': 'chunked' })).toBe('402')
    },
  )

  test('an account without credit may send small free requests', async () => {
    expect((await count(await gateway.customer('0'), SMALL)).status).toBe(200)
  })

  test('more keys do not enlarge an account’s share of free bytes', async () => {
    const first = await gateway.customer('1')
    const made = await gateway.apiKeys.create({ accountId: first.accountId, name: 'second' })
    assert(made.kind === 'created', 'the account exists')
    const second = { ...first, key: made.key, keyId: made.keyId }
    let taken = 0
    for (let sent = 0; sent < FREE_PER_MINUTE; sent += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => count(first, SMALL)))
      taken += answers.filter(({ status }) => status === 200).length
    }
    expect(taken).toBeGreaterThan(FREE_PER_MINUTE - 50)
    const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await count(second, SMALL)).status))
    expect(statuses).toContain(429)
    expect((await count(await gateway.customer('1'), SMALL)).status).toBe(200)
  })

  test('an account’s free bytes per minute are shared by its keys; beyond them a large body is not read', async () => {
    const customer = await gateway.customer('1')
    const text = 'word '.repeat((4 * MIB) / 5)
    const body = JSON.stringify({ model: 'svc/alpha', max_tokens: 1, messages: [{ role: 'user', content: text }] })
    let bytes = 0
    while ((await count(customer, body)).status === 200) bytes += body.length
    // A body that began within the share is read to its end.
    expect(bytes).toBeWithin(SHARED.unpaidBytes.perAccount, SHARED.unpaidBytes.perAccount + 4 * body.length)
    for (const path of PATHS) expect(await answerUnread(path, customer.key, large)).toBe('429')
    expect((await count(customer, SMALL)).status).toBe(200)
    expect(await answerUnread('/v1/messages', customer.key, large)).toBe('429')
  })

  test('large requests that are refused without a charge count against the account’s share of read bytes', async () => {
    const customer = await gateway.customer('1')
    const body = JSON.stringify({ model: 'svc/none', max_tokens: 1, messages: [], x: 'x'.repeat(4 * MIB) })
    const statuses: number[] = []
    while (statuses.at(-1) !== 429 && statuses.length < 40) {
      const headers = { 'x-api-key': customer.key, 'content-type': 'application/json' }
      statuses.push((await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body })).status)
    }
    expect(statuses.length).toBeWithin(8, 13)
  })
})
