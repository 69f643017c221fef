/** chat-completions on both sides: only the model's name and the fields that metering needs may change. */
import { describe, expect, test } from 'bun:test'
import { passHooks } from '@test/formats/pass-hooks'
import { decodeRequest } from '@/formats/chat-completions/client-side/decode-request'
import { passThrough } from '@/formats/chat-completions/pass-through'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import { CONTEXT, fixtureBytes, traitsWith } from './support'

const MESSAGES = [{ role: 'user', content: 'hi' }]

function send(fields: JsonObject, quirks: string[] = [], maxOutputTokens?: number): JsonObject {
  const body = { model: 'svc/alpha', messages: MESSAGES, ...fields }
  const before = structuredClone(body)
  const request = decodeRequest(body)
  const sent = passThrough.request(
    body,
    maxOutputTokens === undefined ? request : { ...request, maxOutputTokens },
    traitsWith(...quirks),
  )
  expect(body).toEqual(before)
  return sent
}

/** What a chunk of the published shape has beside its choices and its model, and an answer in one piece. */
const HEAD = '"id":"1","object":"chat.completion.chunk","created":5'
const WHOLE = { id: '1', object: 'chat.completion', created: 5, choices: [], usage: usageObject(1, 1) }

function usageObject(prompt: number, completion: number): JsonObject {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

const BASE = { model: 'alpha-2026-01', messages: MESSAGES }

describe('a request', () => {
  test('a passed-through request keeps every field in order, except the model and the gateway’s own field', () => {
    const fields = { fallback: ['svc/beta'], web_search_options: {}, metadata: { a: 'b' }, temperature: 0.123456789 }
    const sent = send(fields)
    expect(sent).toEqual({ ...BASE, web_search_options: {}, metadata: { a: 'b' }, temperature: 0.123456789 })
    expect(Object.keys(sent)).toEqual(['model', 'messages', 'web_search_options', 'metadata', 'temperature'])
  })

  test('a passed-through request keeps the digits of numbers', () => {
    const text = `{"model":"svc/alpha","messages":[{"role":"user","content":"hi","reasoning_details":[1098765432109876543]}],"max_tokens":1e2,"n":1.0,
      "logit_bias":{"7":-1.0},"metadata":{"at":1e5}}`
    const body = parseJson(text) as JsonObject
    rememberNumbers(body, text)
    const request = decodeRequest(body)
    expect(JSON.stringify(passThrough.request(body, request, traitsWith()))).toBe(
      '{"model":"alpha-2026-01","messages":[{"role":"user","content":"hi","reasoning_details":[1098765432109876543]}],"max_tokens":100,"n":1,' +
        '"logit_bias":{"7":-1.0},"metadata":{"at":1e5}}',
    )
    const limited = passThrough.request(body, { ...request, maxOutputTokens: 50 }, traitsWith())
    expect(limited).toMatchObject({ max_tokens: 50 })
    expect(body).toEqual(parseJson(text) as JsonObject)
  })

  test('a passed-through stream request asks for usage and keeps other stream options', () => {
    expect(send({ stream: true })).toEqual({ ...BASE, stream: true, stream_options: { include_usage: true } })
    expect(send({ stream: true, stream_options: { include_usage: false, include_obfuscation: false } })).toEqual({
      ...BASE,
      stream: true,
      stream_options: { include_usage: true, include_obfuscation: false },
    })
    expect(send({ stream: false })).toEqual({ ...BASE, stream: false })
    expect(send({ stream: true }, ['no-stream-options'])).toEqual({ ...BASE, stream: true })
  })

  test('a passed-through request loses fields that the model refuses', () => {
    const sampling = { temperature: 0.5, top_p: 0.5, frequency_penalty: 1, presence_penalty: 1 }
    expect(send({ ...sampling, seed: 1 })).toEqual({ ...BASE, ...sampling, seed: 1 })
    expect(send({ ...sampling, seed: 1 }, ['no-sampling'])).toEqual({ ...BASE, seed: 1 })
    expect(send({ reasoning_effort: 'low' }, ['no-reasoning-effort'])).toEqual(BASE)
  })

  test('a passed-through request loses other providers’ signatures, and keeps the provider’s own', () => {
    const call = (extra: JsonObject = {}) => ({
      id: 'a',
      type: 'function',
      function: { name: 'f', arguments: '{}' },
      ...extra,
    })
    const signed = (value: string) => call({ extra_content: { google: { thought_signature: value } } })
    const history = (...calls: JsonObject[]) => [...MESSAGES, { role: 'assistant', content: null, tool_calls: calls }]
    const own = history(signed('c2ln'), call())
    expect(send({ messages: own }).messages).toBe(own)
    const foreign = history(signed('svc.generate-content.c2ln'), call())
    expect(send({ messages: foreign }).messages).toEqual(history(call(), call()))
    expect(send({ messages: foreign }, ['google-extra-content']).messages).toEqual(history(signed('c2ln'), call()))
  })

  const limits: [name: string, fields: JsonObject, quirks: string[], limit: number | undefined, sent: JsonObject][] = [
    ['stays as it was said', { max_tokens: 50 }, [], undefined, { max_tokens: 50 }],
    ['stays absent', {}, [], undefined, {}],
    ['stays null', { max_tokens: null }, [], undefined, { max_tokens: null }],
    ['is lowered in the field that was used', { max_tokens: 50 }, [], 20, { max_tokens: 20 }],
    ['is lowered in the current field', { max_completion_tokens: 50 }, [], 20, { max_completion_tokens: 20 }],
    ['is lowered in one of two', { max_tokens: 50, max_completion_tokens: 50 }, [], 20, { max_completion_tokens: 20 }],
    ['is added', {}, [], 20, { max_completion_tokens: 20 }],
    ['is added for an older service', {}, ['max_tokens'], 20, { max_tokens: 20 }],
    ['is moved for an older service', { max_completion_tokens: 50 }, ['max_tokens'], undefined, { max_tokens: 50 }],
    ['is lowered for an older service', { max_completion_tokens: 50 }, ['max_tokens'], 20, { max_tokens: 20 }],
    ['stays for an older service', { max_tokens: 50 }, ['max_tokens'], undefined, { max_tokens: 50 }],
  ]
  for (const [name, fields, quirks, limit, sent] of limits) {
    test(`a passed-through request has an output limit that ${name}`, () => {
      expect(send(fields, quirks, limit)).toEqual({ ...BASE, ...sent })
    })
  }

  test('a passed-through request loses unlisted fields, unless the operator passes them on', () => {
    const body = { ...BASE, x_one: 1, x_two: [2], metadata: { a: 'b' } }
    const decoded = decodeRequest(body)
    const passed = (passFields?: ReadonlySet<string>, ...quirks: string[]) =>
      Object.keys(passThrough.request(body, decoded, { ...traitsWith(...quirks), ...(passFields && { passFields }) }))
    expect(passed()).not.toContain('x_one')
    expect(passed()).toContain('metadata')
    expect(passed(new Set(['x_two']))).toContain('x_two')
    expect(passed(new Set(['x_two']))).not.toContain('x_one')
    expect(passed(undefined, 'unpriced-extras')).toContain('x_one')
  })

  test('a passed-through request may have names such as toString', () => {
    const body = parseJson(
      '{"model":"a","messages":[{"role":"user","content":"x"}],"__proto__":{"model":"dear"},"store":false}',
    )
    const sent = passThrough.request(
      isJsonObject(body) ? body : {},
      decodeRequest(isJsonObject(body) ? body : {}),
      traitsWith(),
    )
    expect(JSON.stringify(sent)).toBe(
      '{"model":"alpha-2026-01","messages":[{"role":"user","content":"x"}],"store":false}',
    )
  })
})

describe('an answer', () => {
  test('a passed-through answer has the same bytes except the model', async () => {
    const text = new TextDecoder().decode(await fixtureBytes('text.json'))
    const json = parseJson(text)
    const relayed = passThrough.response(text, isJsonObject(json) ? json : {}, CONTEXT, passHooks())
    expect(relayed).toBe(text.replace('"alpha-2026-01"', '"svc/alpha"'))
  })

  test('a passed-through answer without a model gets one', () => {
    const { model: _, ...nameless } = { ...WHOLE, model: 'x' }
    const pass = (answer: JsonObject) =>
      passThrough.response(JSON.stringify(answer), answer, CONTEXT, passHooks()).slice(0, 30)
    expect(pass(nameless)).toStartWith('{"model":"svc/alpha","id":')
    expect(pass({ model: null, ...nameless })).toStartWith('{"model":"svc/alpha","id":')
  })
})

describe('an event', () => {
  const quiet = { ...CONTEXT, wantsUsage: false }
  const event = (data: string, context = CONTEXT) =>
    passThrough.createStream(context, passHooks()).event(data, parseJson(data))
  const usage = `{${HEAD},"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`

  test('a passed-through event has the same bytes except the model', () => {
    const delta = '{"role":"assistant","content":"\\"model\\":\\"alpha\\" \\u00e9"}'
    const data = `{${HEAD}, "model" : "alpha","choices":[{"index":0,"delta":${delta}}],"x":1.0}`
    expect(event(data)).toBe(data.replace('"model" : "alpha"', '"model" : "svc/alpha"'))
  })

  test('a passed-through event with an empty or missing model gets one', () => {
    const choice = '{"index":0,"delta":{"role":"assistant"}}'
    expect(event(`{${HEAD},"model":"","choices":[${choice}]}`)).toBe(
      `{${HEAD},"model":"svc/alpha","choices":[${choice}]}`,
    )
    expect(event(`{${HEAD},"choices":[${choice}]}`)).toBe(`{"model":"svc/alpha",${HEAD},"choices":[${choice}]}`)
  })

  test('a passed-through event with neither choice nor usage is hidden', () => {
    expect(event(`{${HEAD},"model":"","choices":[],"prompt_filter_results":[]}`)).toBeUndefined()
  })

  test('a passed-through event with only usage is hidden unless the caller requested it', () => {
    expect(event(usage, quiet)).toBeUndefined()
    expect(event(usage)).toBe(usage.replace('"m"', '"svc/alpha"'))
  })

  test('usage beside content is removed from a passed-through event', () => {
    const choice = '{"index":0,"delta":{"role":"assistant","content":"x"}}'
    const counts = '{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}'
    const data = `{${HEAD},"model":"svc/alpha","choices":[${choice}],"usage":${counts}}`
    expect(event(data, quiet)).toBe(data.replace(counts, 'null'))
  })

  test('a passed-through event that is not a JSON object is unchanged; an object that is not a chunk is hidden', () => {
    for (const data of ['[DONE]', 'not json', '5']) expect(event(data, quiet)).toBe(data)
    for (const data of ['{}', '{"error":{"message":"x"}}', '{"type":"ping"}']) expect(event(data)).toBeUndefined()
  })
})
