/** That a body which would take the processor for long is refused before it is parsed, and is read only when it may be. */
import { afterEach, beforeEach, describe, expect, type Mock, spyOn, test } from 'bun:test'
import { readJsonBody } from '@/http/body'

const LIMITS = { maxBodyBytes: 20_000_000, maxJsonDepth: 64 }

function requestOf(body: string): Request {
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  return new Request('http://gateway.test/', { method: 'POST', headers, body })
}

const fields = (count: number, name: (index: number) => string) =>
  `{${Array.from({ length: count }, (_, index) => `${JSON.stringify(name(index))}:1.0`).join(',')}}`

let parse: Mock<typeof JSON.parse>
beforeEach(() => {
  parse = spyOn(JSON, 'parse')
})
// What stays a spy counts, and slows, what the next files of the same worker parse.
afterEach(() => parse.mockRestore())

describe('a body of nothing but names', () => {
  test.each<[string, (index: number) => string]>([
    ['that are numbers', (index) => String(index * 7_919)],
    ['that are words', (index) => `n${index}`],
    ['that are long', (index) => `${'k'.repeat(80)}${index}`],
    ['with escapes', (index) => `"${index}`],
  ])('%s is refused before it is parsed', async (_, name) => {
    const refused = await readJsonBody(requestOf(fields(90_000, name)), LIMITS).catch((error: unknown) => `${error}`)
    expect(refused).toContain('more than 10000 different names of fields')
    expect(parse).not.toHaveBeenCalled()
  })

  test('is read where they are the same again and again, as those of a conversation are, with their numbers', async () => {
    const same = Array.from({ length: 20_000 }, () => '{"role":"user","content":1.0}').join(',')
    const { json } = await readJsonBody(requestOf(`{"messages":[${same}]}`), LIMITS)
    expect((json.messages as unknown[]).length).toBe(20_000)
    await readJsonBody(requestOf(fields(10_000, String)), LIMITS)
  })
})

test('a body waits between its end and the parse where it has to, and is not parsed where it may not be', async () => {
  const turn = Promise.withResolvers<void>()
  const reading = readJsonBody(requestOf('{"a":1}'), LIMITS, { beforeParse: () => turn.promise })
  const refused = readJsonBody(requestOf('{"b":1}'), LIMITS, { beforeParse: () => Promise.reject(new Error('no')) })
  expect(await refused.catch((error: Error) => error.message)).toBe('no')
  expect(parse).not.toHaveBeenCalled()
  turn.resolve()
  expect((await reading).json).toEqual({ a: 1 })
})
