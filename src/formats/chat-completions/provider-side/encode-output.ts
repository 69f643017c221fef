/** The form of an answer for a chat-completions provider: `response_format`, and the word JSON that its JSON mode demands. */
import type { OutputShape } from '@/chat/request'
import type { JsonObject } from '@/lib/json'

/** `response_format`, or nothing for plain text. */
export function encodeOutput(output: OutputShape): JsonObject {
  if (output.type === 'text') return {}
  if (output.type === 'json') return { response_format: { type: 'json_object' } }
  const { schema, name, description, strict } = output
  const definition = {
    name: schemaName(name),
    ...(description !== undefined && { description }),
    schema,
    ...(strict !== undefined && { strict }),
  }
  return { response_format: { type: 'json_schema', json_schema: definition } }
}

function schemaName(name: string | undefined): string {
  return (name ?? '').replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'response'
}

/** JSON mode is refused unless some message speaks of JSON; callers of other formats need not have said it. */
export function withMentionOfJson(messages: JsonObject[]): JsonObject[] {
  if (messages.some((message) => /json/i.test(JSON.stringify(message.content ?? '')))) return messages
  const instruction = 'Answer with a JSON object.'
  const [first, ...rest] = messages
  if (first?.role === 'system') return [{ ...first, content: `${first.content}\n\n${instruction}` }, ...rest]
  return [{ role: 'system', content: instruction }, ...messages]
}
