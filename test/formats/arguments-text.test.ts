/** Limits on the arguments of tool calls in a request, so that parsing them costs no more than parsing the body. */
import { expect, test } from 'bun:test'
import { type ArgumentsRead, checkArguments } from '@/formats/arguments-text'

const MOST_CHARS = 4 * 1024 * 1024
const none = (): ArgumentsRead => ({ chars: 0, values: 0 })
const check = (text: string, read = none()) => checkArguments(text, 'messages[0].arguments', read, MOST_CHARS)
const namesOf = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"${index * 7_919}":1.0`).join(',')}}`

test.each([
  ['values', `{"x":[${'1.0,'.repeat(100_000)}1]}`, 'have more than 100000 values'],
  ['names', namesOf(10_001), 'more than 10000 different names'],
  ['levels', '['.repeat(1_001) + ']'.repeat(1_001), 'nested deeper than 1000 levels'],
  ['characters', 'x'.repeat(MOST_CHARS + 1), 'exceed 4194304 characters'],
])('tool call arguments with too many %s are refused', (_, text, words) => {
  expect(() => check(text)).toThrow(words)
})

test('tool call arguments at the limit are accepted unchanged', () => {
  for (const text of [
    `{"x":[${'1.0,'.repeat(99_990)}1]}`,
    namesOf(10_000),
    `"${'x'.repeat(4_000_000)}"`,
    'no JSON',
    '',
  ])
    expect(check(text)).toBe(text)
})

test('the limit of values applies to all tool calls of a request together', () => {
  const read = none()
  const some = `{"x":[${'0,'.repeat(30_000)}1]}`
  for (let call = 0; call < 3; call++) check(some, read)
  expect(() => check(some, read)).toThrow('all arguments together have more than 100000 values')
})

test('short tool call arguments are accepted without parsing', () => {
  const read = none()
  for (let call = 0; call < 100; call++) check('{"city":"Oslo"}', read)
  expect(read.values).toBe(0)
})
