/** Lists in a streamed message: annotations get their index, and must be complete citations. */
import { expect, test } from 'bun:test'
import { passHooks } from '@test/formats/pass-hooks'
import { passThrough } from '@/formats/chat-completions/pass-through'
import { type JsonObject, parseJson } from '@/lib/json'
import { CONTEXT } from './support'

/** The delta of each chunk that a client gets of these deltas, the first of which begins the message. */
function deltas(...given: JsonObject[]) {
  const hooks = passHooks()
  const passing = passThrough.createStream(CONTEXT, hooks)
  const told = given.map((delta, place) => {
    const choice = { index: 0, delta: { ...(place === 0 && { role: 'assistant' }), ...delta }, finish_reason: null }
    const head = { id: 'x', object: 'chat.completion.chunk', created: 5, model: 'up' }
    const data = JSON.stringify({ ...head, choices: [choice] })
    return JSON.parse(passing.event(data, parseJson(data)) ?? '').choices[0].delta
  })
  return { told, repairs: hooks.repairs }
}

test('an annotation in several chunks gets its index in the whole list', () => {
  const { told, repairs } = deltas(
    { reasoning_details: [{ text: 'a' }] },
    { reasoning_details: [{ text: 'b' }, { text: 'c' }], images: [{ url: 'x' }] },
    { reasoning_details: [{ index: 7 }], names: ['x'] },
    { reasoning_details: [{ text: 'd' }] },
  )
  expect(told.map((delta) => delta.reasoning_details)).toEqual([
    [{ text: 'a', index: 0 }],
    [
      { text: 'b', index: 1 },
      { text: 'c', index: 2 },
    ],
    [{ index: 7 }],
    [{ text: 'd', index: 8 }],
  ])
  expect(told[1].images).toEqual([{ url: 'x', index: 0 }])
  expect(told[2].names).toEqual(['x'])
  expect(repairs).toEqual(['index'])
})

test('annotations are complete URL citations', () => {
  const cited = { url: 'https://a.example', title: 't', start_index: 1, end_index: 2 }
  const { told } = deltas(
    { annotations: [{ index: 0, type: 'url_citation', url_citation: cited }] },
    { annotations: [{ type: 'file', file: {} }, { index: 1, type: 'url_citation', url_citation: { url: 'b' } }, 7] },
  )
  expect(told.map((delta) => delta.annotations)).toEqual([
    [{ index: 0, type: 'url_citation', url_citation: cited }],
    [{ index: 1, type: 'url_citation', url_citation: { url: 'b', title: '', start_index: 0, end_index: 0 } }],
  ])
})
