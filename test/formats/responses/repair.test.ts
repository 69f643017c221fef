/** Repeating a request with long tool schemas in the answer: it is serialised only once. */
import { describe, expect, test } from 'bun:test'
import { passHooks } from '@test/formats/pass-hooks'
import { createStreamEncoder } from '@/formats/responses/client-side/encode-stream'
import { passThrough } from '@/formats/responses/pass-through'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { pass } from './passing'
import { BEGINNING, CONTEXT, completed, RESPONSE, USAGE } from './support'

describe('a long request repeated in the answer', () => {
  /** Tools that count how often they are written. */
  function countedTools() {
    const tools: JsonObject[] = [{ type: 'function', name: 'f' }]
    let written = 0
    const toJSON = () => {
      written++
      return [...tools]
    }
    Object.defineProperty(tools, 'toJSON', { value: toJSON })
    return { context: { ...CONTEXT, answerEcho: { tools } }, tools, times: () => written }
  }

  test('a long request is serialised once for a whole answer', () => {
    const { context, tools, times } = countedTools()
    const json = { ...RESPONSE, status: 'completed', output: [], usage: USAGE }
    const text = passThrough.response(JSON.stringify(json), json, context, passHooks())
    expect(times()).toBe(1)
    expect((parseJson(text) as JsonObject).tools).toEqual([...tools])
  })

  test('a long request is serialised once for a stream', () => {
    const { context, tools, times } = countedTools()
    const { events } = pass([...BEGINNING, completed()], context)
    expect(times()).toBe(1)
    const told = events.flatMap(({ response }) => (isJsonObject(response) ? [response.tools] : []))
    expect(told).toEqual(Array.from({ length: told.length }, () => [...tools]))
    expect(told.length).toBeGreaterThan(1)
  })

  test('a long request is serialised only once for the first two events, if the provider has another format', () => {
    const { context, tools, times } = countedTools()
    const frames = createStreamEncoder(context).push({ type: 'start', id: 'x', model: 'm', created: 1 })
    expect(times()).toBe(1)
    expect(frames.map(({ data }) => parseJson(data))).toMatchObject([
      { type: 'response.created', sequence_number: 0, response: { tools: [...tools] } },
      { type: 'response.in_progress', sequence_number: 1, response: { tools: [...tools] } },
    ])
  })
})
