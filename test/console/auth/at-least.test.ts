/** Padding of answers: a failure takes its time, a success only where that is wanted. */
import { expect, test } from 'bun:test'
import { alwaysAtLeast, atLeast } from '@/console/auth/at-least'

async function took(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work().catch(() => undefined)
  return performance.now() - started
}

const fail = () => Promise.reject(new Error('no'))
const succeed = () => Promise.resolve('yes')

test('atLeast holds failures back, and nothing else', async () => {
  expect(await took(() => atLeast(60, fail))).toBeGreaterThanOrEqual(59)
  // Would outlast the test if it were held back.
  expect(await atLeast(600_000, succeed)).toBe('yes')
  await expect(atLeast(1, fail)).rejects.toThrow('no')
})

test('alwaysAtLeast holds back both', async () => {
  expect(await took(() => alwaysAtLeast(60, fail))).toBeGreaterThanOrEqual(59)
  expect(await took(() => alwaysAtLeast(60, succeed))).toBeGreaterThanOrEqual(59)
  expect(await alwaysAtLeast(1, succeed)).toBe('yes')
})
