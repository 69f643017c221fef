/** The form of the answer that a responses request asks for: `text.format` in the words of the hub. */
import { invalidRequest } from '@/chat/error'
import type { OutputShape } from '@/chat/request'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import type { WireRequest } from './wire'

/** The form of the answer; undefined where the hub has no word for it. `latestFormat`, said later, wins. */
export function decodeOutput({ text }: WireRequest, latestFormat?: JsonObject | null): OutputShape | undefined {
  const format: JsonObject | null | undefined = latestFormat ?? (text?.format as JsonObject | null | undefined)
  if (!format || format.type === 'text') return { type: 'text' }
  if (format.type === 'json_object') return { type: 'json' }
  if (format.type !== 'json_schema') return undefined
  const { schema, name, description, strict } = format
  if (!isJsonObject(schema)) throw invalidRequest('text.format.schema is required', 'text.format.schema')
  return {
    type: 'json-schema',
    schema: asWritten(schema),
    ...(typeof name === 'string' && { name }),
    ...(typeof description === 'string' && { description }),
    ...(typeof strict === 'boolean' && { strict }),
  }
}
