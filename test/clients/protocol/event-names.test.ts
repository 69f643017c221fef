/** Provider events without names or with wrong names: clients that rely on event names still read the whole answer. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { modelAt, startTrio } from '@test/clients/trio'
import { respondWith } from '@test/matrix/provider'
import type { TestGateway } from '@test/support/gateway'
import OpenAI from 'openai'

let gateway: TestGateway
let key: string

beforeAll(async () => {
  gateway = await startTrio()
  key = (await gateway.customer('100')).key
})
afterAll(() => gateway.stop())

const WITHOUT = (text: string) => text.replace(/^event:.*\r?\n/gm, '')
const SPELLINGS: [string, (text: string) => string][] = [
  ['no names', WITHOUT],
  ['no names, CRLF', (text) => WITHOUT(text).replaceAll('\n', '\r\n')],
  ['a name of no event', (text) => text.replace(/^event:.*$/gm, 'event: message')],
  ['comments in place of names', (text) => text.replace(/^event:.*$/gm, ': PROCESSING')],
]

/** What the client is sent where the provider's stream is spelt otherwise. */
function spell(format: 'messages' | 'responses', spelling: (text: string) => string): void {
  gateway.upstream.respond(async () => {
    const sound = await respondWith({ fixture: 'matrix/text', usage: null }, format, true).text()
    return new Response(spelling(sound), { headers: { 'content-type': 'text/event-stream' } })
  })
}

const QUESTION = { max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] }
const REQUESTS = {
  messages: ['/v1/messages', QUESTION],
  responses: ['/v1/responses', { input: 'Hi' }],
} as const

/** How many answers of the provider of `format` had names of events put right. */
async function repaired(format: string): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text()
  const line = text.match(new RegExp(`^svc_answer_repairs_total\\{provider="${format}",field="event"\\} (\\d+)$`, 'm'))
  return Number(line?.[1])
}

async function events(format: 'messages' | 'responses'): Promise<[name: string | undefined, type: string][]> {
  const [path, body] = REQUESTS[format]
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: modelAt(format), stream: true, ...body }),
  })
  const blocks = (await response.text()).split(/\r?\n\r?\n/).filter((block) => /^data:/m.test(block))
  return blocks.map((block) => {
    const data = /^data: (.*)$/m.exec(block)?.[1] ?? ''
    return [/^event: (.*?)\r?$/m.exec(block)?.[1], JSON.parse(data).type]
  })
}

describe.each(['messages', 'responses'] as const)('streams with event names that are %s', (format) => {
  test.each(SPELLINGS)('%s: events are read by their type, and wrong names are counted', async (_, spelling) => {
    spell(format, (text) => text)
    const before = await repaired(format)
    const sound = await events(format)
    expect(await repaired(format)).toBe(before)
    spell(format, spelling)
    const told = await events(format)
    expect(await repaired(format)).toBe(before + 1)
    expect(told).toEqual(sound)
    for (const [name, type] of told) expect(name).toBe(type)
  })
})

test.each(SPELLINGS)('%s: the official messages client reads the whole answer', async (_, spelling) => {
  const client = new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 })
  spell('messages', (text) => text)
  const ask = () => client.messages.stream({ model: modelAt('messages'), ...QUESTION }).finalText()
  const sound = await ask()
  spell('messages', spelling)
  expect(await ask()).toBe(sound)
  expect(sound).not.toBe('')
})

test.each(SPELLINGS)('%s: the official responses client reads the whole answer', async (_, spelling) => {
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  spell('responses', spelling)
  const response = await client.responses.stream({ model: modelAt('responses'), input: 'Hi' }).finalResponse()
  expect(response.output_text).not.toBe('')
})
