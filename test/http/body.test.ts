/** Bodies that would take long to parse are refused before parsing, and large ones wait for their turn. */
import { afterEach, beforeEach, describe, expect, type Mock, spyOn, test } from 'bun:test'
import { readJsonBody } from '@/http/body'
import { asWritten, TURN_CHARS } from '@/lib/json-source/as-written'

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

describe('a body with very many field names', () => {
  test.each<[string, (index: number) => string]>([
    ['that are numbers', (index) => String(index * 7_919)],
    ['that are words', (index) => `n${index}`],
    ['that are long', (index) => `${'k'.repeat(80)}${index}`],
    ['with escapes', (index) => `"${index}`],
  ])('a body with very many field names %s is refused', async (_, name) => {
    const refused = await readJsonBody(requestOf(fields(90_000, name)), LIMITS).catch((error: unknown) => `${error}`)
    expect(refused).toContain('more than 10000 different names of fields')
    expect(parse).not.toHaveBeenCalled()
  })

  test('a body with many repeated field names is accepted, numbers included', async () => {
    const same = Array.from({ length: 20_000 }, () => '{"role":"user","content":1.0}').join(',')
    const { json } = await readJsonBody(requestOf(`{"messages":[${same}]}`), LIMITS)
    expect((json.messages as unknown[]).length).toBe(20_000)
    await readJsonBody(requestOf(fields(10_000, String)), LIMITS)
  })
})

describe('a body that is refused before parsing', () => {
  const refusalOf = (body: string) => readJsonBody(requestOf(body), LIMITS).catch((error: unknown) => `${error}`)

  test.each([
    ['spaces', `{"x":1.0${' '.repeat(4_300_000)}}`],
    ['the digits of one number', `{"x":${'7'.repeat(4_300_000)}}`],
    ['the digits of many numbers', `{"x":[${`1.${'7'.repeat(60)},`.repeat(80_000)}1]}`],
    ['colons', `{"x":${':'.repeat(4_300_000)}}`],
  ])('a body of nothing but %s is refused before parsing', async (_, body) => {
    expect(await refusalOf(body)).toContain('more than 4194304 characters outside of its strings')
    expect(parse).not.toHaveBeenCalled()
  })

  test.each([
    ['\\u0041', 6],
    ['\\"', 2],
    ['\\\\', 2],
  ])('a body of nothing but %s is refused before parsing', async (escaped, length) => {
    expect(await refusalOf(`{"x":"${escaped.repeat(13_000_000 / length)}"}`)).toContain('more than 2097152 escaped')
    expect(parse).not.toHaveBeenCalled()
  })

  test('a body at its limits is accepted, and so is one whose strings alone are long', async () => {
    const { json } = await readJsonBody(
      requestOf(`{"x":"${'\\"'.repeat(2_097_152)}","y":"${'x'.repeat(9_000_000)}"}`),
      LIMITS,
    )
    expect(String(json.x)).toBe('"'.repeat(2_097_152))
    await readJsonBody(requestOf(`{"x":1${' '.repeat(4_190_000)}}`), LIMITS)
  })
})

test('while a body with many long numbers is parsed, other requests run, and every digit is kept', async () => {
  const text = `{"a":[${Array.from({ length: 45_000 }, (_, index) => `{"n${index % 50}":${index}.0}`).join(',')}]}`
  let turns = 0
  let isRead = false
  const others = () => {
    turns++
    if (!isRead) setImmediate(others)
  }
  const reading = readJsonBody(requestOf(text), LIMITS)
  setImmediate(others)
  const { json } = await reading
  isRead = true
  expect(JSON.stringify(asWritten(json))).toBe(text)
  expect(turns).toBeGreaterThan(text.length / TURN_CHARS)
})

test('a body waits for its turn before it is parsed, and is not parsed after a refusal', async () => {
  const turn = Promise.withResolvers<void>()
  const reading = readJsonBody(requestOf('{"a":1}'), LIMITS, { share: { beforeParse: () => turn.promise } })
  const refused = readJsonBody(requestOf('{"b":1}'), LIMITS, {
    share: { beforeParse: () => Promise.reject(new Error('no')) },
  })
  expect(await refused.catch((error: Error) => error.message)).toBe('no')
  expect(parse).not.toHaveBeenCalled()
  turn.resolve()
  expect((await reading).json).toEqual({ a: 1 })
})

describe('the raw text of a body', () => {
  const textOf = async (body: string) => (await readJsonBody(requestOf(body), LIMITS)).text
  test('the raw text of a body is kept if it has many escapes, which are slow to serialise', async () => {
    const body = '{ "model":"a", "messages":[{"content":"\\n"},{"content":"b"}] }'
    expect(await textOf(body)).toBe(body)
  })

  test.each([
    ['it has no escapes', '{"model":"a","messages":[{"content":"b"}]}'],
    ['a field name occurs twice', '{"n":1,"model":"\\n","n":100}'],
    ['a field name occurs twice in a nested object', '{"messages":[{"content":"\\n","content":"b"}]}'],
    ['a field name occurs twice, once with escapes', '{"model":"\\n","\\u006dodel":"b"}'],
    ['a number is written in another notation than JavaScript’s', '{"model":"\\n","max_tokens":1e2}'],
  ])('the raw text of a body is not kept if %s', async (_, body) => {
    expect(await textOf(body)).toBeUndefined()
  })
})
