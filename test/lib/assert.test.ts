/** Broken assumptions stop with their own kind of error, which says what was assumed. */
import { expect, test } from 'bun:test'
import { AssertionError, assert, assertNever } from '@/lib/assert'

test('a true assumption passes, a false one throws its text', () => {
  for (const held of [true, 1, 'a', {}]) expect(() => assert(held, 'is held')).not.toThrow()
  for (const broken of [false, 0, '', null, undefined, Number.NaN]) {
    expect(() => assert(broken, 'is held')).toThrow(new AssertionError('is held'))
  }
})

test('an unreachable branch throws the value that reached it', () => {
  expect(() => assertNever({ kind: 'unheard-of' } as never)).toThrow(
    new AssertionError('unreachable: {"kind":"unheard-of"}'),
  )
})
