/** The shared schemas of the OpenAPI document: stored once by title, in a short form. */
import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { createSchemaShelf } from '@/http/openapi/schema-shelf'

function plain(schema: object): unknown {
  return createSchemaShelf().refer(schema)
}

test('a titled schema is stored once and referenced everywhere', () => {
  const shelf = createSchemaShelf()
  const Price = Type.Object({ usd: Type.String() }, { title: 'Price' })
  const Sold = Type.Object({ prices: Type.Array(Price), last: Type.Optional(Price) }, { title: 'Sold' })
  expect(shelf.refer(Type.Union([Sold, Type.Null()]))).toEqual({
    anyOf: [{ $ref: '#/components/schemas/Sold' }, { type: 'null' }],
  })
  expect(Object.keys(shelf.schemas).sort()).toEqual(['Price', 'Sold'])
  expect(shelf.schemas.Sold).toMatchObject({
    properties: {
      prices: { items: { $ref: '#/components/schemas/Price' } },
      last: { $ref: '#/components/schemas/Price' },
    },
  })
})

test('a schema’s own description stays beside the reference', () => {
  const shelf = createSchemaShelf()
  const Price = Type.Object({ usd: Type.String() }, { title: 'Price', description: 'What it costs' })
  expect(shelf.refer(Price)).toEqual({ $ref: '#/components/schemas/Price' })
  expect(shelf.refer({ ...Price, description: 'What it cost' })).toEqual({
    $ref: '#/components/schemas/Price',
    description: 'What it cost',
  })
  expect(shelf.schemas.Price).toMatchObject({ description: 'What it costs' })
})

test('two schemas with one title must be equal', () => {
  const shelf = createSchemaShelf()
  shelf.refer(Type.Object({ usd: Type.String() }, { title: 'Price' }))
  expect(() => shelf.refer(Type.Object({ eur: Type.String() }, { title: 'Price' }))).toThrow(
    'two schemas are called Price',
  )
})

test.each([
  ['words', Type.Union([Type.Literal('a'), Type.Literal('b')]), { type: 'string', enum: ['a', 'b'] }],
  [
    'an enum or null',
    Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Null()], { description: 'x' }),
    { type: ['string', 'null'], enum: ['a', 'b', null], description: 'x' },
  ],
  [
    'a text or null',
    Type.Union([Type.String({ maxLength: 2 }), Type.Null()]),
    { type: ['string', 'null'], maxLength: 2 },
  ],
  ['anything', Type.Union([Type.Unknown(), Type.Null()]), {}],
  ['a map', Type.Record(Type.String(), Type.Integer()), { type: 'object', additionalProperties: { type: 'integer' } }],
  ['a number in an address', t.Numeric({ minimum: 1 }), { type: 'number', minimum: 1 }],
  [
    'one of several kinds',
    Type.Union([Type.String(), Type.Integer()]),
    { anyOf: [{ type: 'string' }, { type: 'integer' }] },
  ],
])('a shared schema is stored correctly: %s', (_, schema, expected) => {
  expect(plain(schema)).toEqual(expected)
})
