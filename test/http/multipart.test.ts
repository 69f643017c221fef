/** Forms with files: how their fields are read, and which forms are refused. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { GatewayError } from '@/chat/error'
import { readForm } from '@/http/multipart'

const MAX_BYTES = 100_000

function requestOf(form: FormData): Request {
  return new Request('http://gateway/', { method: 'POST', body: form })
}

function formOf(fields: readonly (readonly [string, string | Blob])[]): FormData {
  const form = new FormData()
  for (const [name, value] of fields) form.append(name, value)
  return form
}

async function refusalOf(request: Request, maxBytes = MAX_BYTES): Promise<string> {
  const error = await readForm(request, maxBytes).catch((caught: unknown) => caught)
  return error instanceof GatewayError ? error.kind : `no refusal: ${String(error)}`
}

describe('the fields of a form', () => {
  test('lists and objects of a form are written with brackets in the field names', async () => {
    const form = formOf([
      ['model', 'm'],
      ['list[]', 'a'],
      ['list[]', 'b'],
      ['numbered[0]', 'c'],
      ['chunking[type]', 'auto'],
      ['svc[providers][only][]', 'p'],
      ['svc[zero_retention]', 'true'],
    ])
    const { json } = await readForm(requestOf(form), MAX_BYTES)
    expect(json).toEqual({
      ...{ model: 'm', list: ['a', 'b'], numbered: ['c'], chunking: { type: 'auto' } },
      svc: { providers: { only: ['p'] }, zero_retention: true },
    })
  })

  test('preferences in a form may be one JSON text', async () => {
    const { json } = await readForm(requestOf(formOf([['svc', '{"regions":["eu"]}']])), MAX_BYTES)
    expect(json).toEqual({ svc: { regions: ['eu'] } })
  })

  test('a form field with the name of an inherited property is read as a field', async () => {
    const form = formOf([
      ['__proto__', 'x'],
      ['constructor[prototype]', 'y'],
    ])
    const { json } = await readForm(requestOf(form), MAX_BYTES)
    expect(Object.entries(json)).toEqual([
      ['__proto__', 'x'],
      ['constructor', { prototype: 'y' }],
    ])
    expect(Object.hasOwn({}, 'prototype')).toBe(false)
  })

  test('any texts and bytes of a form are read as they were sent', async () => {
    const entry = fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.string({ unit: 'grapheme' }), fc.uint8Array())
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(entry, { selector: ([name]) => name, maxLength: 5 }), async (entries) => {
        const form = new FormData()
        for (const [name, text, bytes] of entries) {
          form.append(name, text)
          form.append(`${name}-file`, new File([bytes], 'a b"c.bin', { type: 'application/x' }))
        }
        if (entries.length === 0) return
        const { json, files } = await readForm(requestOf(form), MAX_BYTES)
        for (const [name, text, bytes] of entries) {
          // Line ends of texts are CRLF in a form.
          expect(json[name]).toBe(text.replace(/\r\n|\r|\n/g, '\r\n'))
          const file = files?.get(`${name}-file`)?.[0]
          expect(Buffer.from((await file?.arrayBuffer()) ?? new ArrayBuffer(0))).toEqual(Buffer.from(bytes))
        }
      }),
    )
  })

  test('a form’s fingerprint changes with its content, and not with its boundary', async () => {
    const fingerprint = async (fields: [string, string | Blob][]) => {
      let digest = ''
      const onBytes = (bytes: Uint8Array) => {
        digest = Buffer.from(bytes).toString('hex')
      }
      await readForm(requestOf(formOf(fields)), MAX_BYTES, { onBytes })
      return digest
    }
    const fields: [string, string | Blob][] = [
      ['a', 'b'],
      ['file', new File(['sound'], 'x.wav')],
    ]
    const first = await fingerprint(fields)
    expect(await fingerprint(fields)).toBe(first)
    expect(await fingerprint([['a', 'c'], ...fields.slice(1)])).not.toBe(first)
    expect(await fingerprint([...fields.slice(0, 1), ['file', new File(['sounD'], 'x.wav')]])).not.toBe(first)
  })
})

describe('a refused form', () => {
  test('a form is refused if its content type or its boundary is wrong, or if it is no form', async () => {
    const post = (contentType: string, body: string) =>
      new Request('http://gateway/', { method: 'POST', headers: { 'content-type': contentType }, body })
    expect(await refusalOf(post('application/json', '{}'))).toBe('unsupported_media_type')
    expect(await refusalOf(post('multipart/form-data', 'x'))).toBe('unsupported_media_type')
    expect(await refusalOf(post('multipart/form-data; boundary=x', 'no form'))).toBe('invalid_request')
    expect(await refusalOf(post('multipart/form-data; boundary=x', ''))).toBe('invalid_request')
  })

  test('a form with too many bytes is refused, whether or not the length is announced', async () => {
    const form = () => formOf([['file', new File([Buffer.alloc(2_000)], 'x')]])
    expect(await refusalOf(requestOf(form()), 1_000)).toBe('too_large')
    const { body, headers } = requestOf(form())
    const streamed = new Request('http://gateway/', { method: 'POST', body, headers })
    expect(await refusalOf(streamed, 1_000)).toBe('too_large')
  })

  test.each([
    ['too many parts', Array.from({ length: 257 }, (_, index) => [`f${index}`, 'x'] as const)],
    [
      'texts that are too long',
      [
        ['f', 'x'.repeat(99_000)],
        ['g', 'x'.repeat(99_000)],
        ['h', 'x'.repeat(99_000)],
      ] as const,
    ],
    [
      'a field twice',
      [
        ['f', 'x'],
        ['f', 'y'],
      ] as const,
    ],
    [
      'a text and a list of one name',
      [
        ['f', 'x'],
        ['f[]', 'y'],
      ] as const,
    ],
    [
      'a list and an object of one name',
      [
        ['f[]', 'x'],
        ['f[a]', 'y'],
      ] as const,
    ],
    ['a name that is nested too deep', [[`f${'[a]'.repeat(10)}`, 'x']] as const],
    ['a name that is too long', [['f'.repeat(300), 'x']] as const],
  ])('a form is refused if it has %s', async (_, fields) => {
    expect(await refusalOf(requestOf(formOf(fields)), 10 * MAX_BYTES)).toBe('invalid_request')
  })
})
