/** What a responses provider's answer must look like: `text`, and the word that JSON mode demands in the input. */
import { lost } from '@/chat/features'
import type { ChatRequest, Warning } from '@/chat/request'
import type { TargetTraits } from '@/formats/format'
import { QUIRKS } from '@/formats/responses/quirks'
import type { JsonObject } from '@/lib/json'

/** `text`, or nothing for plain text of no particular length. Reads the quirk `noVerbosity`. */
export function encodeOutput(
  { output, verbosity }: Pick<ChatRequest, 'output' | 'verbosity'>,
  traits: TargetTraits,
  warnings: Warning[],
): { text?: JsonObject } {
  const isRefused = verbosity !== undefined && traits.quirks.has(QUIRKS.noVerbosity)
  if (isRefused) warnings.push(lost('verbosity', 'this model is not told how much to say'))
  const format = encodeFormat(output)
  const said = isRefused ? undefined : verbosity
  if (!format && said === undefined) return {}
  return { text: { ...(format && { format }), ...(said !== undefined && { verbosity: said }) } }
}

/** `strict` is always said: left out, it means another thing here than in the other formats. */
function encodeFormat(output: ChatRequest['output']): JsonObject | undefined {
  if (output.type === 'text') return undefined
  if (output.type === 'json') return { type: 'json_object' }
  const { schema, name, description, strict } = output
  return {
    type: 'json_schema',
    name: schemaName(name),
    ...(description !== undefined && { description }),
    schema,
    strict: strict ?? false,
  }
}

function schemaName(name: string | undefined): string {
  return (name ?? '').replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'response'
}

/** JSON mode is refused unless the input speaks of JSON; `instructions` don't count. Callers of other formats need not have said it. */
export function withMentionOfJson(input: JsonObject[]): JsonObject[] {
  if (input.some((item) => /json/i.test(JSON.stringify(item)))) return input
  return [{ role: 'developer', content: 'Answer with a JSON object.' }, ...input]
}
