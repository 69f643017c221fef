/** The OpenAPI subset that generate-content uses for schemas, decoded to JSON Schema. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { decodeSchema } from '@/formats/generate-content/client-side/decode-schema'
import { encodeSchema } from '@/formats/generate-content/provider-side/encode-schema'
import type { JsonObject } from '@/lib/json'

describe('decodeSchema', () => {
  test('types, nullable, counts and keywords in either spelling are decoded; property names are not changed', () => {
    const schema = {
      type: 'OBJECT',
      property_ordering: ['first_name'],
      properties: {
        first_name: { type: 'STRING', nullable: true, enum: ['a'], format: 'enum', max_length: '10' },
        any_of: { any_of: [{ type: 'NUMBER' }, { type: 'TYPE_UNSPECIFIED' }], nullable: true },
        list: { type: 'ARRAY', items: { type: 'INTEGER' }, minItems: '1', example: [1] },
      },
    }
    expect(decodeSchema(schema)).toEqual({
      type: 'object',
      properties: {
        first_name: { type: ['string', 'null'], enum: ['a', null], maxLength: 10 },
        any_of: { anyOf: [{ type: 'number' }, {}, { type: 'null' }] },
        list: { type: 'array', items: { type: 'integer' }, minItems: 1, examples: [[1]] },
      },
    })
  })

  test('a schema within the subset is the same after encoding and decoding', () => {
    const schema = {
      type: 'OBJECT',
      description: 'd',
      properties: {
        a: { type: 'STRING', nullable: true },
        b: { type: 'ARRAY', items: { type: 'NUMBER', minimum: 1 } },
      },
      required: ['b'],
    }
    expect(encodeSchema(decodeSchema(schema), { work: 10_000, bytes: 10_000 })).toEqual(schema)
  })

  test('any object is read as a schema without an error', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (schema) => {
        expect(decodeSchema(schema as JsonObject)).toBeObject()
      }),
    )
  })
})
