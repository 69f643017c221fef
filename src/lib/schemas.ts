/** Short forms of schemas that are written everywhere. */
import { type SchemaOptions, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'

/** One of some words. */
export function oneOf<const Word extends string>(words: readonly Word[], options: SchemaOptions = {}): TUnsafe<Word> {
  const literals = words.map((word) => Type.Literal(word))
  return Type.Unsafe<Word>(Type.Union(literals, options))
}

/** What `schema` describes, or null. */
export function orNull<Schema extends TSchema>(schema: Schema, options: SchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options)
}
