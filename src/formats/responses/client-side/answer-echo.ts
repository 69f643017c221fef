/** What an answer repeats of its request, beside its own id: clients take a field that is missing for a broken answer. */
import { randomId } from '@/lib/ids'
import type { JsonObject } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'
import type { WireRequest } from './wire'

/** The fields in which an answer says what was asked for, as it was asked. Nothing is kept, unless somebody says otherwise. */
export function echoRequest(request: WireRequest, body: JsonObject): JsonObject {
  const { format, ...text } = asWritten(request.text as JsonObject | null | undefined) ?? {}
  const { effort, summary, ...reasoning } = asWritten(request.reasoning as JsonObject | null | undefined) ?? {}
  const tier = request.service_tier
  return {
    id: randomId('resp'),
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: asWritten(body.metadata) ?? {},
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    prompt_cache_retention: request.prompt_cache_retention ?? null,
    reasoning: { ...reasoning, effort: effort ?? null, summary: summary ?? null },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: !tier || tier === 'auto' ? 'default' : tier,
    store: false,
    temperature: request.temperature ?? 1,
    text: { verbosity: 'medium', ...text, format: format ?? { type: 'text' } },
    tool_choice: asWritten(body.tool_choice) ?? 'auto',
    tools: asWritten(body.tools) ?? [],
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? 'disabled',
    user: request.user ?? null,
  }
}
