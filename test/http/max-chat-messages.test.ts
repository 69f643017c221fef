/** The operator raises the maximum of messages in a chat-completions request. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'

let gateway: TestGateway
let customer: Customer
let received: unknown

beforeAll(async () => {
  gateway = await startGateway({
    respond: ({ body }) => {
      received = body
      return Response.json(chatCompletion('Hello'))
    },
    environment: { MAX_CHAT_MESSAGES: '300' },
  })
  customer = await gateway.customer('10')
})
afterAll(() => gateway.stop())

async function ask(count: number, path = '/v1/chat/completions') {
  const messages = Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `Message ${index}`,
  }))
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages, max_tokens: 10 }),
  })
  return { status: response.status, body: (await response.json()) as { error?: { message: string; param: string } } }
}

test.each(['/v1/chat/completions', '/v1/route', '/v1/messages'])('300 messages are accepted at %s', async (path) => {
  const { status } = await ask(300, path)
  expect(status).toBe(200)
})

test('the provider gets all chat messages', async () => {
  await ask(299)
  expect((received as { messages: unknown[] }).messages).toHaveLength(299)
})

test('one message more than the maximum is refused, with the limit and the setting that raises it', async () => {
  const { status, body } = await ask(301)
  expect(status).toBe(400)
  const limit = 'messages has 301 items; a request may have at most 300 here.'
  const message = `${limit} The operator can raise this limit (MAX_CHAT_MESSAGES).`
  expect(body.error).toMatchObject({ param: 'messages', message })
})

test('the documentation has the configured limit of messages', async () => {
  const response = await fetch(`${gateway.url}/docs/json`)
  const { components } = (await response.json()) as { components: { schemas: Record<string, unknown> } }
  expect(JSON.stringify(components.schemas.ChatCompletionRequest)).toContain('"maxItems":300')
})
