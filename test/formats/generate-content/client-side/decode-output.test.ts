/** The requested answer format of generate-content, decoded. */
import { expect, test } from 'bun:test'
import { decode } from '@test/formats/generate-content/support'

test('the requested answer format is decoded', () => {
  const outputOf = (generationConfig: object) => decode({ generationConfig: generationConfig as never }).output
  expect(outputOf({ responseMimeType: 'application/json' })).toEqual({ type: 'json' })
  expect(outputOf({ responseMimeType: 'text/plain' })).toEqual({ type: 'text' })
  expect(outputOf({ responseJsonSchema: { type: 'object' } })).toEqual({
    type: 'json-schema',
    schema: { type: 'object' },
  })
})

test('an enum answer is requested as an object, and the caller gets the plain word', () => {
  const responseSchema = { type: 'STRING', enum: ['a', 'b'] }
  const request = decode({ generationConfig: { responseMimeType: 'text/x.enum', responseSchema } })
  expect(request).toMatchObject({ answerField: 'choice', output: { type: 'json-schema', strict: true } })
  expect(request.output).toHaveProperty('schema.properties.choice', { type: 'string', enum: ['a', 'b'] })
  expect(request.nativeOnly).toBeUndefined()
  const listless = decode({ generationConfig: { responseMimeType: 'text/x.enum' } })
  expect(listless).toMatchObject({ output: { type: 'text' }, nativeOnly: [expect.stringContaining('text/x.enum')] })
  expect(listless.answerField).toBeUndefined()
})
