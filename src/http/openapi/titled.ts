import { type TProperties, Type } from '@sinclair/typebox'

/** An object schema that the OpenAPI document contains once, under this title, and refers to. */
export function titled<Properties extends TProperties>(title: string, properties: Properties) {
  return Type.Object(properties, { title })
}
