/** The form of the answer that a messages request asks for: `output_config.format` in the words of the hub. */
import { invalidRequest } from '@/chat/error'
import type { OutputShape } from '@/chat/request'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import type { WireCountRequest } from './wire'

/** What the answer must look like. `output_format` at the top level is the older place of `output_config.format`. */
export function decodeOutput(wire: WireCountRequest, body: JsonObject): OutputShape {
  const schema = wire.output_config?.format?.schema as JsonObject | undefined
  if (schema) return { type: 'json-schema', schema: asWritten(schema) }
  const older = body.output_format
  if (older === undefined || older === null) return { type: 'text' }
  if (!isJsonObject(older) || older.type !== 'json_schema' || !isJsonObject(older.schema)) {
    throw invalidRequest('output_format must be an object of type json_schema with a schema', 'output_format')
  }
  return { type: 'json-schema', schema: asWritten(older.schema) }
}
