/**
 * What a messages provider's answer must look like: a schema, or JSON asked for in words. A schema becomes
 * `output_config.format`; where the model lacks that (quirk `no-output-format`) and for JSON without a schema it
 * becomes an instruction, because a forced tool would change what the answer is made of and could not be streamed as
 * text.
 */
import type { OutputShape, Warning } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { QUIRKS } from '@/formats/messages/quirks'
import type { JsonObject } from '@/lib/json'
import { encodeSchema } from './encode-schema'

type EncodedOutput = { format?: JsonObject; instruction?: string }

const JSON_INSTRUCTION =
  'Answer with one valid JSON object and nothing else: no explanation before or after it and no code fence around it.'

/** The output format, or the instruction that takes its place. */
export function encodeOutput(output: OutputShape, traits: TargetTraits, warnings: Warning[]): EncodedOutput {
  if (output.type === 'text') return {}
  if (output.type === 'json') {
    warnings.push({ feature: 'output', detail: 'JSON mode became an instruction' })
    return { instruction: JSON_INSTRUCTION }
  }
  if (traits.quirks.has(QUIRKS.noOutputFormat)) {
    warnings.push({ feature: 'output', detail: 'the JSON schema became an instruction' })
    const about = output.description === undefined ? '' : ` (${output.description})`
    return {
      instruction: `${JSON_INSTRUCTION} It must follow this JSON Schema${about}:\n${JSON.stringify(output.schema)}`,
    }
  }
  return { format: { type: 'json_schema', schema: encodeSchema(output.schema) } }
}
