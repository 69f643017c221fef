/** Minimum answer times: failures are always delayed, successes only on request. */
import { expect, test } from 'bun:test'
import { expectAtLeast } from '@test/support/at-least'
import { alwaysAtLeast, atLeast } from '@/console/auth/at-least'

const fail = () => Promise.reject(new Error('no'))
const succeed = () => Promise.resolve('yes')

test('atLeast delays only failures', async () => {
  await expectAtLeast(60, () => expect(atLeast(60, fail)).rejects.toThrow('no'))
  // Would outlast the test if it were held back.
  expect(await atLeast(600_000, succeed)).toBe('yes')
  await expect(atLeast(1, fail)).rejects.toThrow('no')
})

test('alwaysAtLeast delays successes and failures', async () => {
  await expectAtLeast(60, () => expect(alwaysAtLeast(60, fail)).rejects.toThrow('no'))
  expect(await expectAtLeast(60, () => alwaysAtLeast(60, succeed))).toBe('yes')
  expect(await alwaysAtLeast(1, succeed)).toBe('yes')
})
