/** A short run of the fuzzer with a fixed seed, and its parts. */

import { expect, test } from 'bun:test'
import { spend } from '@test/support/delays'
import { valueFor } from './generate'
import { faultsOf } from './judge'
import { watchLoop } from './loop-watch'
import { createRandom } from './random'
import { runFuzz } from './run'

test('a short fuzz run finds no fault', async () => {
  const bombs = { depth: 60_000, bytes: 1024 * 1024 }
  expect(await runFuzz({ seed: 12, probes: 80, bombs, everyBomb: 30, note: () => undefined })).toEqual([])
})

test('the fuzzer detects a stopped event loop, and does not mistake waiting for one', async () => {
  const longest = watchLoop()
  await spend(300)
  longest()
  await spend(300)
  expect(longest()).toBeLessThan(150)
  const startedCpu = process.cpuUsage()
  while (process.cpuUsage(startedCpu).user < 400_000);
  expect(longest()).toBeGreaterThan(250)
})

test('the same seed gives the same attacks', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer', minimum: 1 } } }
  const values = (seed: number) => {
    const random = createRandom(seed)
    return Array.from({ length: 50 }, () => JSON.stringify(valueFor(schema, random)))
  }
  expect(values(7)).toEqual(values(7))
  expect(values(7)).not.toEqual(values(8))
})

test.each([
  ['a crash', 500, '{"error":{"message":"x","type":"x","param":null,"code":null}}', '/v1/usage'],
  [
    'a stack trace',
    400,
    '{"error":{"message":"x\\n    at run (/app/src/x.ts:1:2)","type":"x","param":null,"code":null}}',
    '/',
  ],
  [
    'an error in another format’s form',
    400,
    '{"type":"error","error":{"type":"x","message":"x"}}',
    '/v1/chat/completions',
  ],
  ['no JSON', 404, 'Not Found', '/dashboard/api/a/:accountId/keys'],
  ['a secret', 200, '{"key":"sk-secret"}', '/v1/usage'],
])('the fuzzer finds the planted fault %s', (_, status, text, path) => {
  const observed = { status, headers: new Headers(), text: JSON.parse(JSON.stringify(text)) }
  expect(faultsOf(observed, { path, forbidden: ['sk-secret'], mayBeTaken: true })).not.toEqual([])
})
