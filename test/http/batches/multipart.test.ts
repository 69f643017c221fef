/** A multipart body has the same parts however its bytes are split, and an invalid body is refused. */
import { expect, test } from 'bun:test'
import { GatewayError } from '@/chat/error'
import { boundaryOf, readParts } from '@/http/batches/multipart'

type Part = { name: string; filename: string | undefined; content: string }

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function partsOf(text: string, size: number): Promise<Part[]> {
  const parts: (Omit<Part, 'content'> & { pieces: Buffer[] })[] = []
  for await (const event of readParts(inPieces(text, size), 'B')) {
    if (event.kind === 'part') parts.push({ name: event.name, filename: event.filename, pieces: [] })
    else parts.at(-1)?.pieces.push(Buffer.from(event.bytes))
  }
  return parts.map(({ pieces, ...part }) => ({ ...part, content: Buffer.concat(pieces).toString() }))
}

const head = (more: string) => `Content-Disposition: form-data; ${more}\r\n`
const TRICKY = '{"a": "ä"}\r\n--Bx\r\n-\r\n--\n\r\r\n'
const BODY =
  `--B\r\n${head('name="purpose"')}\r\nbatch\r\n` +
  `--B\r\n${head('name="file"; filename="a \\"b\\".jsonl"')}Content-Type: text/plain\r\n\r\n${TRICKY}\r\n` +
  `--B\r\n${head('filename=plain.txt; name=empty')}\r\n\r\n--B--\r\nbehind`

test('a multipart body split into pieces of any size gives the same parts', async () => {
  const expected = [
    { name: 'purpose', filename: undefined, content: 'batch' },
    { name: 'file', filename: 'a "b".jsonl', content: TRICKY },
    { name: 'empty', filename: 'plain.txt', content: '' },
  ]
  const body = BODY.replace('--Bx', '--Ax')
  const wanted = expected.map((part) => ({ ...part, content: part.content.replace('--Bx', '--Ax') }))
  for (let size = 1; size <= body.length; size++)
    expect({ size, parts: await partsOf(body, size) }).toEqual({ size, parts: wanted })
})

test.each([
  ['nothing', ''],
  ['no delimiter', 'hello'],
  ['a missing end', BODY.slice(0, -12)],
  ['a delimiter with text after it', BODY],
  ['a part without headers', '--B\r\n\r\nx\r\n--B--'],
  ['a part without a name', `--B\r\n${head('filename="a"')}\r\nx\r\n--B--`],
  ['headers without an end', `--B\r\n${'x'.repeat(9_000)}`],
])('a multipart body with %s is refused', async (_what, text) => {
  const refused = await partsOf(text, 7).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(GatewayError)
  expect((refused as GatewayError).status).toBe(400)
})

test.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['multipart/form-data; charset=utf-8; boundary="a b"', 'a b'],
  ['Multipart/Form-Data;boundary=abc; x=y', 'abc'],
])('the content type %s has the boundary %s', (type, boundary) => {
  expect(boundaryOf(new Headers({ 'content-type': type }))).toBe(boundary)
})

test.each(['application/json', 'multipart/form-data', 'multipart/mixed; boundary=abc'])('%s is a 415', (type) => {
  expect(() => boundaryOf(new Headers({ 'content-type': type }))).toThrow(
    expect.objectContaining({ kind: 'unsupported_media_type' }),
  )
})
