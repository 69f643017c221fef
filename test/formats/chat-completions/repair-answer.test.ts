/** A complete answer that violates the published schema is repaired field by field; a valid one stays the same byte for byte. */
import { describe, expect, test } from 'bun:test'
import { passHooks } from '@test/formats/pass-hooks'
import { passThrough } from '@/formats/chat-completions/pass-through'
import { isJsonObject, parseJson } from '@/lib/json'
import { CONTEXT } from './support'

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }

describe('an answer in one piece', () => {
  const whole = {
    ...{ id: 'x', object: 'chat.completion', created: 5, model: 'svc/alpha' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: USAGE,
  }

  function pass(text: string) {
    const hooks = passHooks({ uncached: 2, output: 1 })
    const json = parseJson(text)
    const told = passThrough.response(text, isJsonObject(json) ? json : {}, CONTEXT, hooks)
    return { text: told, json: JSON.parse(told), repairs: hooks.repairs }
  }

  test('a valid whole answer is unchanged', () => {
    const text = JSON.stringify(whole).replace('"created":5', '"created": 5,"x":1.0')
    expect(pass(text)).toMatchObject({ text, repairs: [] })
  })

  test('a whole answer without usage gets the charged counts', () => {
    for (const usage of [undefined, null, {}, { prompt_tokens: 3 }]) {
      const { json, repairs } = pass(JSON.stringify({ ...whole, usage }))
      expect(json.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 })
      expect(repairs).toEqual(['usage'])
    }
  })

  test('only complete URL citations are kept among annotations', () => {
    const annotations = [
      { type: 'file', file: {} },
      { type: 'url_citation', url_citation: { url: 'b', title: 't' } },
    ]
    const choices = [{ index: 0, message: { role: 'assistant', content: 'a', annotations }, finish_reason: 'stop' }]
    const { json, repairs } = pass(JSON.stringify({ ...whole, choices }))
    const citation = { url: 'b', title: 't', start_index: 0, end_index: 0 }
    expect(json.choices[0].message.annotations).toEqual([{ type: 'url_citation', url_citation: citation }])
    expect(repairs).toEqual(['annotations'])
  })

  test('an invalid whole answer is repaired field by field', () => {
    const calls = [
      { function: { name: 'f', arguments: { q: 1 } } },
      { id: 'b', type: 'function', function: { name: 'g', arguments: '' } },
      { id: 'c', type: 'function', function: { arguments: '{}' } },
    ]
    const message = { content: [{ type: 'text', text: 'a' }], tool_calls: calls }
    const { json, repairs } = pass(JSON.stringify({ choices: [{ message, logprobs: [], finish_reason: '' }, null] }))
    expect(json).toMatchObject({ id: 'chatcmpl-ours', object: 'chat.completion', created: CONTEXT.created })
    expect(json.choices).toEqual([
      {
        message: {
          role: 'assistant',
          content: 'a',
          tool_calls: [
            { id: expect.stringMatching(/^call_/), type: 'function', function: { name: 'f', arguments: '{"q":1}' } },
            { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
          ],
        },
        ...{ index: 0, logprobs: null, finish_reason: 'tool_calls' },
      },
    ])
    expect(repairs).toEqual([
      ...['arguments', 'choices', 'content', 'created', 'finish_reason', 'id', 'index'],
      ...['logprobs', 'object', 'role', 'tool_calls', 'type', 'usage'],
    ])
  })
})
