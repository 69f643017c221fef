/** Complete answers: what counts as one, and bodies that are malformed despite status 200. */
import { describe, expect, test } from 'bun:test'
import { formatOf } from '@test/gateway/answer-parts'
import { chatCompletion } from '@test/support/upstream'
import type { ChatResponse } from '@/chat/response'
import { completeAnswer, decodeComplete } from '@/gateway/attempt/read-complete'
import type { UpstreamBody } from '@/upstream/answer'

const format = formatOf('chat-completions')

function bodyOf(text: string): UpstreamBody {
  return { kind: 'body', bytes: new TextEncoder().encode(text) }
}

test('a complete answer is returned in bytes and decoded', async () => {
  const text = JSON.stringify(chatCompletion('Hello'))
  expect(decodeComplete(bodyOf(text), format, false)).toMatchObject({
    kind: 'complete',
    response: { choices: [{ content: [{ type: 'text', text: 'Hello' }] }], usage: { output: 5 } },
    raw: { text, json: { object: 'chat.completion' } },
  })
})

test('an answer with status 200 that is nested too deep counts as malformed', () => {
  const failure = { kind: 'malformed', detail: 'answer is not JSON' }
  const text = `${'['.repeat(3000)}${']'.repeat(3000)}`
  expect(decodeComplete(bodyOf(text), format, false)).toEqual({ kind: 'failed', failure } as never)
})

test.each([
  ['{"error":{"message":"no","code":429}}', 429],
  ['{"error":{"message":"no"}}', 502],
  ['{"type":"error","message":"no"}', 502],
])('E22: an error body with status 200 counts as the error that it states: %s', async (text, status) => {
  const failure = { kind: 'refused', error: { status, message: 'no' } }
  expect(decodeComplete(bodyOf(text), format, false)).toMatchObject({ kind: 'failed', failure } as never)
})

test('reading a body that breaks off fails with the reader’s error', async () => {
  const failure = { kind: 'failed', failure: { kind: 'broken', detail: 'ECONNRESET' } } as const
  expect(decodeComplete(failure, format, false)).toBe(failure)
})

describe('an empty answer', () => {
  const emptyWith = (kind: 'error' | 'stop' | 'unknown', raw?: string): ChatResponse => ({
    ...{ id: '', created: 0, model: '', usage: null },
    choices: [{ index: 0, content: [], finish: { kind, ...(raw !== undefined && { raw }) } }],
  })

  test('an empty answer that ended in an error fails, unless the caller has the provider’s format', () => {
    expect(completeAnswer(emptyWith('error', 'RECITATION'), undefined, true)).toMatchObject({
      ...{ kind: 'failed', failure: { kind: 'malformed', detail: 'empty answer, finished with RECITATION' } },
    })
    expect(completeAnswer(emptyWith('error'), undefined, false).kind).toBe('complete')
  })

  test('an empty answer with an unknown finish reason fails, unless the caller has the provider’s format', () => {
    const empty = emptyWith('unknown', 'brand_new')
    expect(completeAnswer(empty, undefined, true).kind).toBe('failed')
    expect(completeAnswer(empty, undefined, false).kind).toBe('complete')
    for (const choice of empty.choices) choice.content.push({ type: 'text', text: 'Hi' })
    expect(completeAnswer(empty, undefined, true).kind).toBe('complete')
  })

  test('an empty answer with a normal finish reason is an answer', () => {
    expect(completeAnswer(emptyWith('stop'), undefined, true).kind).toBe('complete')
  })
})
