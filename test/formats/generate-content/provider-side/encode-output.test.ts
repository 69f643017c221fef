/** The answer format, encoded for generate-content providers. */
import { expect, test } from 'bun:test'
import { encode } from '@test/formats/generate-content/support'

test('the requested answer format is encoded', () => {
  const schema = { type: 'object', properties: { a: { const: 'x' } }, additionalProperties: false }
  expect(encode({ output: { type: 'json' } }).generationConfig).toEqual({ responseMimeType: 'application/json' })
  expect(encode({ output: { type: 'json-schema', schema } }).generationConfig).toEqual({
    responseMimeType: 'application/json',
    responseJsonSchema: schema,
  })
  expect(encode({ output: { type: 'json-schema', schema } }, 'openapi-schema').generationConfig).toEqual({
    responseMimeType: 'application/json',
    responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING', enum: ['x'] } } },
  })
})
