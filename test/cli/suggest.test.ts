/** The command names that are suggested for a mistyped command. */
import { expect, test } from 'bun:test'
import { nearest } from '@/cli/suggest'

const KNOWN = ['account list', 'account limits', 'audit verify', 'key list']

test.each([
  ['acount list', 'account list'],
  ['account lsit', 'account list'],
  ['audit verfy', 'audit verify'],
  ['keys list', 'key list'],
  ['frobnicate', undefined],
  ['', undefined],
])('the command suggests a name for a mistyped one: %s', (typed, meant) => {
  expect(nearest(typed, KNOWN)).toBe(meant as string)
})
