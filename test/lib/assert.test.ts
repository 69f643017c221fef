/** Tests that a broken assumption stops, with its own kind of error, and says what was assumed. */
import { expect, test } from 'bun:test'
import { AssertionError, assert, assertNever } from '@/lib/assert'

test('an assumption that holds lets through, one that does not throws what it says', () => {
  for (const held of [true, 1, 'a', {}]) expect(() => assert(held, 'is held')).not.toThrow()
  for (const broken of [false, 0, '', null, undefined, Number.NaN]) {
    expect(() => assert(broken, 'is held')).toThrow(new AssertionError('is held'))
  }
})

test('a branch that was taken for unreachable tells what has reached it', () => {
  expect(() => assertNever({ kind: 'unheard-of' } as never)).toThrow(
    new AssertionError('unreachable: {"kind":"unheard-of"}'),
  )
})
