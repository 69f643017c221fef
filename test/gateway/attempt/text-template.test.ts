/** What texts have in common that differ in one string, and the words of those that follow. */
import { expect, test } from 'bun:test'
import { isSameTemplate, templateAround, wordsIn } from '@/gateway/attempt/text-template'

const piece = (word: string) => `{"id":"1","say":"${word}"}\n`

test('the template is all but the word', () => {
  expect(templateAround(piece('hello'), 'hello')).toEqual({ before: '{"id":"1","say":"', after: '"}\n' })
})

test('is told by nothing but the one string that says the word', () => {
  expect(templateAround(piece('1'), '1')).toBeUndefined()
  expect(templateAround(piece('hello'), 'world')).toBeUndefined()
  expect(templateAround(piece(''), '')).toBeUndefined()
  expect(templateAround('{"id":"\\u0031","say":"hello"}', 'hello')).toBeUndefined()
  expect(templateAround('{"say":"a"b"}', 'a"b')).toBeUndefined()
})

test('is the same where nothing else differs', () => {
  const template = templateAround(piece('one'), 'one')
  const other = templateAround(piece('two'), 'two')
  const foreign = templateAround(piece('two').replace('1', '2'), 'two')
  if (!template || !other || !foreign) throw new Error('each has a template')
  expect([isSameTemplate(template, other), isSameTemplate(template, foreign)]).toEqual([true, false])
})

test('words are read up to the first text that is another, or is cut', () => {
  const template = templateAround(piece('one'), 'one')
  if (!template) throw new Error('it has a template')
  const two = piece('ü') + piece('a b')
  for (const rest of [
    '',
    '{"id":"2"',
    piece('c').slice(0, -1),
    piece('\\n'),
    piece(''),
    piece('a\tb'),
    '{"id":"1","say":"',
  ]) {
    expect(wordsIn(two + rest, template)).toEqual({ words: ['ü', 'a b'], end: two.length })
  }
})
