/** The form of the answer, as clients of this format say it. */
import { expect, test } from 'bun:test'
import { decode } from '@test/formats/generate-content/support'

test('the shape of the answer', () => {
  const outputOf = (generationConfig: object) => decode({ generationConfig: generationConfig as never }).output
  expect(outputOf({ responseMimeType: 'application/json' })).toEqual({ type: 'json' })
  expect(outputOf({ responseMimeType: 'text/plain' })).toEqual({ type: 'text' })
  expect(outputOf({ responseJsonSchema: { type: 'object' } })).toEqual({
    type: 'json-schema',
    schema: { type: 'object' },
  })
  expect(outputOf({ responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['a'] } })).toEqual({
    type: 'text',
  })
})
