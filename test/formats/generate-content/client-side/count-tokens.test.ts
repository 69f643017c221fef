/** Token counting requests of generate-content, and their answer. */
import { expect, test } from 'bun:test'
import { decode, refusalOf } from '@test/formats/generate-content/support'
import { decodeCountTokens, encodeCountTokens } from '@/formats/generate-content/index'

const line = { model: 'svc/alpha' }

test('countTokens takes contents, or a whole request in either spelling', () => {
  expect(decodeCountTokens({ contents: 'Hi' }, line).turns).toEqual(decode().turns)
  const inner = { model: 'models/svc/alpha', contents: 'Hi', system_instruction: 'Be brief.' }
  const wrapped = decodeCountTokens({ generate_content_request: inner }, line)
  expect(wrapped.turns).toEqual(decode().turns)
  expect(wrapped.system).toEqual([{ type: 'text', text: 'Be brief.' }])
})

test('countTokens refuses a body with both contents and a whole request, or with neither', () => {
  expect(refusalOf(() => decodeCountTokens({}, line)).message).toBe('contents is required')
  expect(
    refusalOf(() => decodeCountTokens({ contents: 'a', generateContentRequest: { contents: 'b' } }, line)).param,
  ).toBe('generateContentRequest')
  expect(refusalOf(() => decodeCountTokens({ generateContentRequest: {} }, line)).message).toContain(
    'contents is required',
  )
})

test('the answer of countTokens has only one field', () => {
  expect(encodeCountTokens(42)).toEqual({ totalTokens: 42 })
})
