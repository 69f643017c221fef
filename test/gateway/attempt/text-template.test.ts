/** Text templates: what texts have in common that differ in a few values, and reading the values of later texts. */
import { expect, test } from 'bun:test'
import {
  fill,
  inOrder,
  isSameTemplate,
  type TextTemplate,
  templateAround,
  valuesAt,
} from '@/gateway/attempt/text-template'
import { assert } from '@/lib/assert'

const piece = (word: string, padding = '', count = '7') =>
  `{"id":"1","say":"${word}","n": ${count},"pad":"${padding}"}\n`
const slotsOf = (word: string, padding = '', count = '7') => [
  { isCount: false, value: word },
  { name: 'n', isCount: true, value: count },
  { name: 'pad', isCount: false, value: padding },
]

function templateOf(word: string, padding?: string, count?: string): TextTemplate {
  const template = templateAround(piece(word, padding, count), slotsOf(word, padding, count))
  assert(template, 'it has a template')
  return template
}

test('a text template has all text except the values', () => {
  const template = templateOf('hello', 'xy', '12')
  expect(template).toEqual({
    literals: ['{"id":"1","say":"', '","n": ', ',"pad":"', '"}\n'],
    isCount: [false, true, false],
  })
  expect(fill(template, ['you', '3', ''])).toBe(piece('you', '', '3'))
})

test('no template is made if the value’s text is missing, escaped or not unique', () => {
  const around = (text: string, value: string) => templateAround(text, [{ isCount: false, value }])
  expect(around(piece('1'), '1')).toBeUndefined()
  expect(around(piece('hello'), 'world')).toBeUndefined()
  expect(around(piece(''), '')).toBeUndefined()
  expect(around('{"id":"\\u0031","say":"hello"}', 'hello')).toBeUndefined()
  expect(around('{"say":"a"b"}', 'a"b')).toBeUndefined()
})

test('a template finds each value by its name, as written, in the given order', () => {
  const word = { isCount: false, value: 'hello' }
  const around = (text: string, count: string) =>
    templateAround(text, [word, { name: 'n', isCount: true, value: count }])
  expect(around('{"say":"hello","n":7}', '7')).toBeDefined()
  for (const text of [
    '{"say":"hello"}',
    '{"say":"hello","n":7,"a":{"n":7}}',
    '{"n":7,"say":"hello"}',
    '{"say":"hello","n":"7"}',
  ])
    expect(around(text, '7')).toBeUndefined()
  for (const count of ['-1', '1.5', '01', '', '1234567890123456', '1e21'])
    expect(around(`{"say":"hello","n":${count}}`, count)).toBeUndefined()
  expect(around('{"say":"hello","n":70}', '7')).toBeUndefined()
  expect(templateAround('{"say":"hello","n":7}', [word, { name: 'n', isCount: false, value: '7' }])).toBeUndefined()
})

test('the places of a template’s values are in the order of the text', () => {
  const [word, count, pad] = slotsOf('hello')
  assert(word && count && pad, 'there are three')
  expect(inOrder(piece('hello'), [pad, word, count])).toEqual([word, count, pad])
})

test('a template matches a text that differs only in its values', () => {
  const foreign = templateAround(piece('two').replace('1', '2'), slotsOf('two'))
  assert(foreign, 'it has a template')
  const one = templateOf('one', 'a', '1')
  expect([isSameTemplate(one, templateOf('two', '', '22')), isSameTemplate(one, foreign)]).toEqual([true, false])
})

test('values are read only from a text that matches the template', () => {
  const template = templateOf('one')
  const text = piece('ü', 'p', '0') + piece('a b', '', '123456789012345')
  const first = valuesAt(text, 0, template)
  expect(first).toEqual({ values: ['ü', '0', 'p'], end: piece('ü', 'p', '0').length })
  const second = valuesAt(text, first?.end ?? 0, template)
  expect(second).toEqual({ values: ['a b', '123456789012345', ''], end: text.length })
  for (const other of [
    '',
    '{"id":"2"',
    piece('c').slice(0, -1),
    piece('\\n'),
    piece('a\tb'),
    piece('c', '\\n'),
    piece('c', 'a"b'),
    ...['', '01', '-1', '1.5', '1e3', '1234567890123456', '"7"', 'null'].map((count) => piece('c', '', count)),
    '{"id":"1","say":"',
    '{"id":"1","say":"c","n": 7',
  ]) {
    expect(valuesAt(other, 0, template)).toBeUndefined()
  }
})
