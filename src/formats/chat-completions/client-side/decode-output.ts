/** The form of the answer that a chat-completions request asks for: `response_format` in the words of the hub. */
import { invalidRequest } from '@/chat/error'
import type { OutputShape } from '@/chat/request'
import { asWritten } from '@/lib/json-source/as-written'
import type { WireRequest } from './wire'

/** What the answer must look like; undefined where the hub has no word for it. */
export function decodeOutput(request: WireRequest): OutputShape | undefined {
  const format = request.response_format
  if (!format || format.type === 'text') return { type: 'text' }
  if (format.type === 'json_object') return { type: 'json' }
  if (format.type !== 'json_schema') return undefined
  const definition = format.json_schema
  if (!definition) throw invalidRequest('response_format.json_schema is required', 'response_format.json_schema')
  const { schema, name, description, strict } = definition
  if (!schema) return { type: 'json' }
  return {
    type: 'json-schema',
    schema: asWritten(schema),
    ...(typeof name === 'string' && { name }),
    ...(typeof description === 'string' && { description }),
    ...(typeof strict === 'boolean' && { strict }),
  }
}
