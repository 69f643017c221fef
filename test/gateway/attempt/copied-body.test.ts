/** A request body copied for a provider of the caller's format: the same text, and no field twice. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { modelAt, startTrio } from '@test/clients/trio'
import type { Customer, TestGateway } from '@test/support/gateway'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startTrio()
  customer = await gateway.customer('100')
})
afterAll(() => gateway.stop())

const MODEL = modelAt('chat-completions')

async function sent(body: string): Promise<string> {
  const before = gateway.upstream.calls.length
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${customer.key}` }
  await (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })).text()
  return gateway.upstream.calls[before]?.text ?? ''
}

test("a copied body has the target's model name, and is otherwise unchanged", async () => {
  const body = (model: string) =>
    `{ "model" : "${model}", "max_tokens": 9,\n "messages": [{"role":"user","content":"a\\nb"}]}`
  const text = await sent(body(MODEL))
  expect(text).toBe(body((JSON.parse(text) as { model: string }).model))
})

test('a copied body requests the usage of a stream', async () => {
  const text = await sent(`{"model":"${MODEL}","stream":true,"messages":[{"role":"user","content":"a\\nb"}]}`)
  expect(text).toEndWith('[{"role":"user","content":"a\\nb"}],"stream_options":{"include_usage":true}}')
})

test.each([
  ['in the body', `"n":1,"messages":[{"role":"user","content":"a\\nb"}],"n":2`],
  ['in a message', `"messages":[{"role":"user","content":"a\\n","content":"b"}]`],
])('a copied body never has a field twice: %s', async (_, fields) => {
  const text = await sent(`{"model":"${MODEL}",${fields}}`)
  const { messages, ...rest } = JSON.parse(text)
  expect(text).toBe(JSON.stringify({ model: rest.model, ...JSON.parse(`{${fields}}`) }))
  expect(messages).toHaveLength(1)
})

test('a copied body lacks the omitted fields', async () => {
  const text = await sent(`{"model":"${MODEL}","messages":[{"role":"user","content":"a\\nb"}],"unheard_of":"x"}`)
  expect(JSON.parse(text)).not.toHaveProperty('unheard_of')
})
