/** Short forms of schemas that are used everywhere. */
import { type SchemaOptions, type TProperties, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'

/** One of several literal texts. */
export function oneOf<const Word extends string>(words: readonly Word[], options: SchemaOptions = {}): TUnsafe<Word> {
  const literals = words.map((word) => Type.Literal(word))
  return Type.Unsafe<Word>(Type.Union(literals, options))
}

/** `schema` or null. */
export function orNull<Schema extends TSchema>(schema: Schema, options: SchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options)
}

/** `schema`, null or undefined. */
export function optional<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(orNull(schema))
}

/** An object that may have additional fields. */
export function object<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: true })
}

/** A shared object schema with its own title in the documentation. */
export function titled<Properties extends TProperties>(title: string, properties: Properties) {
  return Type.Object(properties, { title, additionalProperties: true })
}
