/** Stored conversations: the AI SDK's unchanged tool loop, and answers that OpenAI's library continues. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { answerAs, sellAllFormats } from '@test/stored-responses/providers'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import type { UpstreamCall } from '@test/support/upstream'
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai'
import OpenAI, { BadRequestError, NotFoundError } from 'openai'
import { FORMAT_NAMES } from '@/chat/format-name'

let gateway: TestGateway
/** Shares nothing with the first but the stores. */
let twin: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: work, catalog: sellAllFormats })
  twin = await gateway.twin()
  customer = await gateway.customer('10')
})
afterAll(() => gateway.stop())

/** Calls the tool once, and says what came of it as soon as it is told. */
function work(call: UpstreamCall): Response {
  const isTold = call.text.includes('21 degrees')
  return answerAs(call, ({ signature }) =>
    isTold
      ? [{ type: 'text', text: 'It is 21 degrees.' }]
      : [
          { type: 'reasoning', text: 'I should look.', signature },
          { type: 'text', text: 'Let me look.' },
          { type: 'tool-call', id: 'call_1', name: 'weather', argumentsText: '{"city":"Oslo"}', signature },
        ],
  )
}

/** The requests that left the client. */
function recorded(): { sent: string[]; fetch: typeof fetch } {
  const sent: string[] = []
  const send = async (input: string | URL | Request, init?: RequestInit) => {
    sent.push(String(init?.body))
    // Each step at another gateway: what one has told, the other knows.
    const address = String(input)
    return fetch(sent.length % 2 === 0 ? address.replace(gateway.url, twin.url) : address, init)
  }
  return { sent, fetch: send as typeof fetch }
}

const failure = (work: PromiseLike<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

const weather = tool({
  description: 'The weather of a city',
  inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
  execute: ({ city }) => `21 degrees in ${city}`,
})

describe.each(FORMAT_NAMES.map((format) => [format] as const))('stored responses of a provider of %s', (format) => {
  test.each([false, true])('the AI SDK finishes its tool loop by item references (stream: %p)', async (isStream) => {
    const { sent, fetch } = recorded()
    const openai = createOpenAI({ apiKey: customer.key, baseURL: `${gateway.url}/v1`, fetch })
    const request = {
      model: openai(`svc/${format}`),
      prompt: 'How warm is Oslo?',
      maxRetries: 0,
      stopWhen: isStepCount(4),
      tools: { weather },
      providerOptions: { openai: { reasoningSummary: 'auto', forceReasoning: true } },
    }
    const text = isStream ? await streamText(request).text : (await generateText(request)).text
    expect(text).toBe('It is 21 degrees.')
    expect(sent).toHaveLength(2)
    const named = sent[1]?.match(/"item_reference"/g) ?? []
    expect(named.length).toBeGreaterThanOrEqual(2)
    const told = gateway.upstream.calls.at(-1)?.text ?? ''
    for (const words of ['How warm is Oslo?', 'Let me look.', 'call_1', '21 degrees in Oslo'])
      expect(told).toContain(words)
    // What it has thought comes back to where it was signed.
    expect(told.includes('proof') || told.includes('cHJvb2Y=')).toBe(format !== 'chat-completions')
  })

  test('OpenAI’s library continues an answer, reads it, lists its input and deletes it', async () => {
    const client = new OpenAI({ apiKey: customer.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    const other = new OpenAI({ apiKey: customer.key, baseURL: `${twin.url}/v1`, maxRetries: 0 })
    const tools = [{ type: 'function' as const, name: 'weather', parameters: {}, strict: false }]
    const first = await client.responses.create({ model: `svc/${format}`, input: 'How warm is Oslo?', tools })
    const call = first.output.find((item) => item.type === 'function_call')
    const second = await other.responses.create({
      model: `svc/${format}`,
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: call?.call_id ?? '', output: '21 degrees' }],
      tools,
    })
    expect(second.output_text).toBe('It is 21 degrees.')
    expect(await client.responses.retrieve(second.id)).toMatchObject({ id: second.id, previous_response_id: first.id })
    const types: string[] = []
    for await (const item of client.responses.inputItems.list(second.id, { order: 'asc', limit: 2 }))
      types.push(item.type)
    expect(types.filter((type) => type !== 'reasoning')).toEqual([
      ...['message', 'message', 'function_call', 'function_call_output'],
    ])
    await client.responses.delete(first.id)
    expect(await failure(client.responses.retrieve(first.id))).toBeInstanceOf(NotFoundError)
    const late = other.responses.create({ model: `svc/${format}`, previous_response_id: second.id, input: 'And now?' })
    expect(await failure(late)).toBeInstanceOf(BadRequestError)
  })
})
