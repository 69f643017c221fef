/** Schemas that the OpenAPI document contains once and refers to. */
import { type TProperties, Type } from '@sinclair/typebox'

/** An object schema with this title in the document. */
export function titled<Properties extends TProperties>(title: string, properties: Properties) {
  return Type.Object(properties, { title })
}
