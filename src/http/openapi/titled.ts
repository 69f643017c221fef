/** Schemas that the OpenAPI document has once, however many operations take or answer them. */
import { type TProperties, Type } from '@sinclair/typebox'

/** An object that the document has under `title`. */
export function titled<Properties extends TProperties>(title: string, properties: Properties) {
  return Type.Object(properties, { title })
}
