/** The tool choice of generate-content, decoded. */
import { expect, test } from 'bun:test'
import { decode } from '@test/formats/generate-content/support'

test('the tool choice of generate-content is decoded', () => {
  const choiceOf = (config: object) => decode({ toolConfig: { functionCallingConfig: config } as never }).toolChoice
  expect(choiceOf({})).toEqual({ type: 'auto' })
  expect(choiceOf({ mode: 'NONE' })).toEqual({ type: 'none' })
  expect(choiceOf({ mode: 'ANY' })).toEqual({ type: 'required' })
  expect(choiceOf({ mode: 'ANY', allowedFunctionNames: [] })).toEqual({ type: 'required' })
  expect(choiceOf({ mode: 'any', allowedFunctionNames: ['a'] })).toEqual({ type: 'tool', name: 'a' })
  expect(choiceOf({ mode: 'ANY', allowedFunctionNames: ['a', 'b'] })).toEqual({ type: 'required', names: ['a', 'b'] })
  expect(choiceOf({ mode: 'VALIDATED', allowedFunctionNames: ['a'] })).toEqual({ type: 'auto', names: ['a'] })
})

test('a request without a tool choice is decoded without one', () => {
  expect(decode({}).toolChoice).toBeUndefined()
  expect(decode({ toolConfig: {} }).toolChoice).toBeUndefined()
})
