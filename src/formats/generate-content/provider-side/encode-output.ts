/** What a generate-content provider's answer must look like: its media type and schema. */

import type { OutputShape } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { QUIRKS } from '@/formats/generate-content/quirks'
import type { JsonObject } from '@/lib/json'
import { encodeSchema } from './encode-schema'

/** The fields of generationConfig that say what the answer must look like. Reads the quirk `openApiSchema`. */
export function encodeOutput(output: OutputShape, traits: TargetTraits): JsonObject {
  switch (output.type) {
    case 'text':
      return {}
    case 'json':
      return { responseMimeType: 'application/json' }
    case 'json-schema':
      return traits.quirks.has(QUIRKS.openApiSchema)
        ? { responseMimeType: 'application/json', responseSchema: encodeSchema(output.schema) }
        : { responseMimeType: 'application/json', responseJsonSchema: output.schema }
  }
}
