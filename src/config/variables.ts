/** Schema helpers for environment variables: `description` completes "expected …", `writeOnly` values are never quoted. */
import { type TSchema, Type } from '@sinclair/typebox'

/** An integer with a default; `noun` describes it in errors. */
export function integer(fallback: number, minimum: number, maximum: number, noun: string) {
  const description = `${noun}: an integer from ${minimum} to ${maximum}`
  return Type.Integer({ default: fallback, minimum, maximum, description })
}

/** A text that no message may quote. */
export function secret(pattern: string, description: string) {
  return Type.String({ pattern, description, writeOnly: true })
}

/** A text of one line. */
export function line(maxLength: number, description: string) {
  return Type.String({ pattern: '^[^\\x00-\\x1f]+$', maxLength, description })
}

/** A variable that may be unset. */
export function optional<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(schema)
}
