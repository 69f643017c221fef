/** Short forms of schemas that are written everywhere. */
import { type SchemaOptions, type TProperties, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'

/** One of some words. */
export function oneOf<const Word extends string>(words: readonly Word[], options: SchemaOptions = {}): TUnsafe<Word> {
  const literals = words.map((word) => Type.Literal(word))
  return Type.Unsafe<Word>(Type.Union(literals, options))
}

/** What `schema` describes, or null. */
export function orNull<Schema extends TSchema>(schema: Schema, options: SchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options)
}

/** What `schema` describes, or null, or nothing. */
export function optional<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(orNull(schema))
}

/** An object that may have more fields than these. */
export function object<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: true })
}

/** One that the documentation has once, under its title. */
export function titled<Properties extends TProperties>(title: string, properties: Properties) {
  return Type.Object(properties, { title, additionalProperties: true })
}
