/** Bug 4 of similar products: a route, an unknown model or a new account passes without a budget check. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FORMATS } from '@test/gateway/scripted-models'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'
import { nano } from '@/lib/money'

let gateway: TestGateway
let usedUp: string
let sound: string

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
  usedUp = (await gateway.customer('10', { monthlyBudget: nano(0) })).key
  sound = (await gateway.customer('10')).key
})
afterAll(() => gateway.stop())

const MESSAGES = [{ role: 'user', content: 'Hi' }]
const CONTENTS = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }

/** Every way to ask for an answer that costs money. */
const ROUTES: readonly [path: string, body: Record<string, unknown>][] = ['svc/alpha', 'auto-smart'].flatMap(
  (model) => [
    ...[false, true].flatMap((stream): [string, Record<string, unknown>][] => [
      ['/v1/chat/completions', { model, messages: MESSAGES, stream }],
      ['/v1/messages', { model, messages: MESSAGES, stream, max_tokens: 100 }],
      ['/v1/responses', { model, input: 'Hi', stream }],
    ]),
    ...['generateContent', 'streamGenerateContent', 'streamGenerateContent?alt=sse'].flatMap(
      (verb): [string, Record<string, unknown>][] => [
        [`/v1beta/models/${model}:${verb}`, CONTENTS],
        [`/v1/models/${encodeURIComponent(model)}:${verb}`, CONTENTS],
        [`/models/${model}:${verb}`, CONTENTS],
      ],
    ),
  ],
)

describe.each(ROUTES)('paid route %s %j', (path, body) => {
  test('the first request of an account without credit is refused at this route', async () => {
    const { key } = await gateway.customer('0')
    expect(await ask(path, body, key)).toEqual({ status: 402, calls: 0 })
  })

  test('a key with a used-up budget is refused at this route, even if the account has credit', async () => {
    expect(await ask(path, body, usedUp)).toEqual({ status: 402, calls: 0 })
  })

  test('an unknown model and an unknown key are refused at this route without a call', async () => {
    const unknown = JSON.parse(JSON.stringify(body).replace(/svc\/alpha|auto-smart/, 'svc/unheard-of'))
    const elsewhere = path.replace(/svc(\/|%2F)alpha|auto-smart/, 'svc/unheard-of')
    expect(await ask(elsewhere, unknown, sound)).toEqual({ status: 404, calls: 0 })
    expect(await ask(path, body, `${sound.slice(0, -1)}!`)).toEqual({ status: 401, calls: 0 })
  })
})

test('the test has a route of every format', () => {
  expect(FORMATS).toHaveLength(4)
  expect(new Set(ROUTES.map(([path]) => path.split(/[/:?]/).slice(0, 3).join('/'))).size).toBeGreaterThanOrEqual(4)
})

async function ask(path: string, body: unknown, key: string): Promise<{ status: number; calls: number }> {
  const before = gateway.upstream.calls.length
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await response.arrayBuffer()
  return { status: response.status, calls: gateway.upstream.calls.length - before }
}
