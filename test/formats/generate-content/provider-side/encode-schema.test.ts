/** JSON Schema, encoded in the OpenAPI subset. */

import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { encodeSchema as encodeWithin } from '@/formats/generate-content/provider-side/encode-schema'
import { schemaBudget } from '@/formats/generate-content/provider-side/schema-budget'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { parseAsWritten } from '@/lib/json-source/as-written'

/** With the budget of a request that has this schema alone. */
function encodeSchema(schema: JsonObject): JsonObject {
  return encodeWithin(schema, schemaBudget({ tools: [], output: { type: 'json-schema', schema } }))
}

describe('schema numbers that a double cannot hold', () => {
  test.each([
    ['{"type":"integer","maximum":9223372036854775807}', '{"type":"INTEGER","maximum":9223372036854775807}'],
    ['{"type":"integer","exclusiveMinimum":9223372036854775806}', '{"type":"INTEGER","minimum":9223372036854775806}'],
    ['{"type":"integer","exclusiveMinimum":5.0}', '{"type":"INTEGER","minimum":6}'],
    ['{"type":"number","default":1.0,"minimum":1e400}', '{"type":"NUMBER","default":1.0}'],
    ['{"type":"string","maxLength":1e3}', '{"type":"STRING","maxLength":1e3}'],
    ['{"enum":[1.0,1098765432109876543]}', '{"type":"NUMBER","description":"One of: 1.0, 1098765432109876543"}'],
    ['{"properties":{"a":1.0}}', null],
  ])('a schema keeps numbers digit by digit: %s', (given, expected) => {
    const encoded = encodeSchema(parseAsWritten(given) as JsonObject)
    if (expected === null) expect(JSON.stringify(encoded)).toContain('"a":{"anyOf":')
    else expect(JSON.stringify(encoded)).toBe(expected)
  })
})

describe('encodeSchema', () => {
  const property = (schema: JsonObject, root: JsonObject = {}) =>
    (encodeSchema({ type: 'object', properties: { p: schema }, ...root }).properties as JsonObject).p

  test.each<[string, JsonObject, JsonObject]>([
    ['types', { type: 'integer', format: 'int64' }, { type: 'INTEGER', format: 'int64' }],
    [
      'unknown keys',
      { type: 'string', $id: 'x', contentEncoding: 'base64', format: 'uri', pattern: '^a' },
      { type: 'STRING', pattern: '^a' },
    ],
    [
      'nullable by type',
      { type: ['string', 'null'], description: 'd' },
      { type: 'STRING', description: 'd', nullable: true },
    ],
    [
      'nullable by choice',
      { anyOf: [{ type: 'string' }, { type: 'null' }], default: null, title: 'T' },
      { type: 'STRING', nullable: true },
    ],
    [
      'several types',
      { type: ['string', 'number'], minimum: 1 },
      { anyOf: [{ type: 'STRING' }, { type: 'NUMBER', minimum: 1 }] },
    ],
    ['const', { const: 'a' }, { type: 'STRING', enum: ['a'] }],
    ['enum with null', { enum: ['a', null, 'a'] }, { type: 'STRING', enum: ['a'], nullable: true }],
    ['enum of numbers', { type: 'integer', enum: [1, 2] }, { type: 'INTEGER', description: 'One of: 1, 2' }],
    ['const of a number', { const: 5, description: 'Five.' }, { type: 'NUMBER', description: 'Five. One of: 5' }],
    [
      'exclusive limits',
      { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9 },
      { type: 'INTEGER', minimum: 1, maximum: 8 },
    ],
    ['exclusive limits of numbers', { type: 'number', exclusiveMinimum: 0 }, { type: 'NUMBER', minimum: 0 }],
    [
      'oneOf',
      { description: 'd', oneOf: [{ type: 'string' }, { type: 'boolean' }] },
      { anyOf: [{ type: 'STRING', description: 'd' }, { type: 'BOOLEAN' }] },
    ],
    [
      'a choice inside a choice',
      { anyOf: [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'number' }] },
      { anyOf: [{ type: 'STRING', nullable: true }, { type: 'NUMBER' }] },
    ],
    [
      'a choice among sets of required properties',
      { type: 'object', properties: { a: { type: 'string' } }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
    ],
    [
      'allOf',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'number' } }, required: ['b', 'a'] },
        ],
      },
      { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'NUMBER' } }, required: ['a', 'b'] },
    ],
    [
      'a list of items',
      { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true },
      { type: 'ARRAY', items: { type: 'STRING' }, minItems: 1 },
    ],
    [
      'a tuple',
      { prefixItems: [{ type: 'string' }, { type: 'number' }] },
      { type: 'ARRAY', items: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] } },
    ],
    [
      'a required name without property',
      {
        type: 'object',
        properties: { a: { type: 'string' } },
        required: ['a', 'x'],
        propertyNames: {},
        additionalProperties: false,
      },
      { type: 'OBJECT', properties: { a: { type: 'STRING' } }, required: ['a'] },
    ],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }, { type: 'OBJECT' }],
  ])('a schema is encoded: %s', (_, schema, expected) => {
    expect(property(schema)).toEqual(expected)
  })

  test('an unrestricted schema becomes a choice among all types', () => {
    const anything = { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }] }
    expect(property({})).toEqual(anything)
    expect(property({ type: 'array' })).toEqual({ type: 'ARRAY', items: anything })
    expect(property({ $ref: '#/$defs/Missing' })).toEqual(anything)
  })

  test('references in a schema are inlined with the keywords beside them', () => {
    const root = { $defs: { City: { type: 'string', description: 'A city', enum: ['Seoul'] } } }
    expect(property({ $ref: '#/$defs/City', description: 'Where' }, root)).toEqual({
      type: 'STRING',
      description: 'Where',
      enum: ['Seoul'],
    })
  })

  test('a recursive reference ends in an object without properties', () => {
    const schema = {
      $ref: '#/$defs/Node',
      $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' }, name: { type: 'string' } } } },
    }
    expect(encodeSchema(schema)).toEqual({
      type: 'OBJECT',
      properties: { next: { type: 'OBJECT' }, name: { type: 'STRING' } },
    })
    expect(encodeSchema({ $ref: '#' })).toEqual({ type: 'OBJECT' })
  })

  const $defs: JsonObject = { d30: { type: 'string' } }
  for (let level = 0; level < 30; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` }
    $defs[`d${level}`] = { type: 'object', properties: { a: next, b: next }, allOf: [next, next] }
  }
  const chain = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, at) => [`d${at}`, { $ref: `#/$defs/d${at + 1}` }]),
  )
  const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`k${at}`, { type: 'string' }]))
  const many = (length: number, item: JsonValue) => Array.from({ length }, () => item)

  // Each would take minutes, and gigabytes, where it were written out.
  test.each<[string, JsonObject]>([
    ['references that double at every step', { $ref: '#/$defs/d0', $defs }],
    [
      'a large schema that is used often',
      {
        properties: Object.fromEntries(many(2_000, '').map((_, at) => [`p${at}`, { $ref: '#/$defs/w' }])),
        $defs: { w: { type: 'object', properties: wide } },
      },
    ],
    [
      'keywords beside a choice',
      { const: 'x'.repeat(100_000), pattern: 'y'.repeat(100_000), anyOf: many(2_000, { type: 'string' }) },
    ],
    ['unknown keys beside a choice', { ...wide, anyOf: many(2_000, { type: 'string' }) }],
    ['unknown keys that are merged often', { allOf: many(2_000, { $ref: '#/$defs/w' }), $defs: { w: wide } }],
    [
      'properties that are merged often',
      { allOf: many(2_000, { $ref: '#/$defs/w' }), $defs: { w: { properties: wide } } },
    ],
    [
      'long names that are used often',
      {
        properties: Object.fromEntries(many(2_000, '').map((_, at) => [`p${at}`, { $ref: '#/$defs/w' }])),
        $defs: { w: { properties: { ['n'.repeat(9_000)]: {} } } },
      },
    ],
  ])('a schema is refused: %s', (_, schema) => {
    expect(() => encodeSchema(schema)).toThrow('takes no references in schemas')
  })

  test('all schemas of a request share one size limit', () => {
    const twice = {
      properties: { a: { $ref: '#/$defs/w' }, b: { $ref: '#/$defs/w' }, c: { $ref: '#/$defs/w' } },
      $defs: { w: { description: 'd'.repeat(3_000), type: 'string' } },
    }
    const tools = many(20, twice).map((parameters) => ({ name: 'a', parameters: parameters as JsonObject }))
    const budget = schemaBudget({ tools: tools.slice(0, 1), output: { type: 'text' } })
    expect(encodeWithin(twice, budget)).toHaveProperty('properties.c')
    const shared = schemaBudget({ tools, output: { type: 'text' } })
    expect(() => tools.map(({ parameters }) => encodeWithin(parameters, shared))).toThrow('takes no references')
  })

  test('a long chain of references is cut off', () => {
    expect(encodeSchema({ $ref: '#/$defs/d0', $defs: chain })).toEqual({ type: 'OBJECT' })
  })

  const name = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'some_key')
  const { schema: anySchema } = fc.letrec<{ schema: JsonObject; full: JsonObject }>((tie) => ({
    schema: fc.oneof({ maxDepth: 3, depthSize: 'small' }, fc.constant<JsonObject>({ type: 'string' }), tie('full')),
    full: fc.record(
      {
        type: fc.constantFrom<JsonValue[]>(
          'string',
          'object',
          'array',
          'integer',
          'null',
          ['string', 'null'],
          ['object', 'array'],
          'weird',
          5,
        ),
        properties: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
        items: fc.oneof(tie('schema'), fc.array(tie('schema'), { maxLength: 2 }), fc.constant(true)),
        anyOf: fc.array(tie('schema'), { maxLength: 3 }),
        oneOf: fc.array(tie('schema'), { maxLength: 3 }),
        allOf: fc.array(tie('schema'), { maxLength: 3 }),
        prefixItems: fc.array(tie('schema'), { maxLength: 2 }),
        $ref: fc.constantFrom('#', '#/$defs/a', '#/$defs/b', '#/properties/a', '#/anyOf/0', 'elsewhere', '#/%zz'),
        $defs: fc.dictionary(name, tie('schema'), { maxKeys: 2 }),
        enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { maxLength: 3 }),
        const: fc.oneof(fc.string(), fc.boolean(), fc.constant(null)),
        required: fc.array(name, { maxLength: 3 }),
        minimum: fc.double({ noNaN: true }),
        exclusiveMinimum: fc.oneof(fc.integer(), fc.boolean()),
        minLength: fc.double({ noNaN: true }),
        description: fc.string(),
        default: fc.jsonValue() as fc.Arbitrary<JsonValue>,
        format: fc.string(),
        nullable: fc.boolean(),
        $schema: fc.string(),
        additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<JsonObject>,
  }))

  test('any encoded schema has only allowed keywords', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        expectAllowed(encodeSchema(schema))
      }),
      { numRuns: 300 },
    )
  })

  test('any object is encoded as a schema without an error', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (schema) => {
        expectAllowed(encodeSchema(schema as JsonObject))
      }),
    )
  })
})

/** The keys a schema of the subset may hold. */
const ALLOWED: ReadonlySet<string> = new Set([
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'items',
  'minItems',
  'maxItems',
  'properties',
  'required',
  'minProperties',
  'maxProperties',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'example',
  'anyOf',
  'propertyOrdering',
  'default',
])
const TYPES = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT']

function expectAllowed(schema: JsonValue | undefined): void {
  if (!isJsonObject(schema)) throw new Error(`no schema: ${JSON.stringify(schema)}`)
  for (const key of Object.keys(schema)) expect(ALLOWED).toContain(key)
  if (schema.anyOf === undefined) expect(TYPES).toContain(schema.type as string)
  else expect(Object.keys(schema)).toEqual(['anyOf'])
  for (const item of Array.isArray(schema.anyOf) ? schema.anyOf : []) expectAllowed(item)
  if (schema.type === 'ARRAY') expectAllowed(schema.items)
  if (schema.enum !== undefined) for (const value of schema.enum as JsonValue[]) expect(value).toBeString()
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  for (const property of Object.values(properties)) expectAllowed(property)
  for (const name of (schema.required ?? []) as string[]) expect(Object.hasOwn(properties, name)).toBe(true)
}
