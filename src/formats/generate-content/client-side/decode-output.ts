/** The form of the answer that a generate-content request asks for: media type and schema in the words of the hub. */
import type { OutputShape } from '@/chat/request'
import { isJsonObject } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import { decodeSchema } from './decode-schema'
import type { WireGenerationConfig } from './wire'

/** What the answer must look like. A schema without a media type means JSON; beside another media type it is this format's own affair. */
export function decodeOutput({
  responseMimeType,
  responseSchema,
  responseJsonSchema,
}: WireGenerationConfig): OutputShape {
  const isText = responseMimeType !== undefined && responseMimeType !== 'application/json'
  if (isText) return { type: 'text' }
  if (isJsonObject(responseJsonSchema)) return { type: 'json-schema', schema: asWritten(responseJsonSchema) }
  if (responseSchema) return { type: 'json-schema', schema: decodeSchema(asWritten(responseSchema)) }
  return responseMimeType === 'application/json' ? { type: 'json' } : { type: 'text' }
}
