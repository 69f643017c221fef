/** The body fields of responses that are passed on to providers of the format, and why. */
import type { Feature } from '@/chat/request'
import { fieldTable, type RequestFields } from '@/formats/body-fields'
import { boundWhere, fieldTree, LOST, lostExcept, nestedFields } from '@/formats/nested-fields'
import { NOT_OFFERED, ROUTING_FIELDS } from '@/formats/routing-fields'
import { isJsonObject } from '@/lib/json'
import { QUIRKS } from './provider'

export const BODY_FIELDS = fieldTable({
  hub: [
    'model',
    'input',
    'instructions',
    'previous_response_id',
    'store',
    'include',
    'stream',
    'background',
    'max_output_tokens',
    'temperature',
    'top_p',
    'top_logprobs',
    'reasoning',
    'text',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'prompt_cache_key',
    'safety_identifier',
    'user',
    'service_tier',
    'fallback',
    'svc',
    ...ROUTING_FIELDS,
    'fallbacks',
  ],
  ours: [
    'model',
    'stream',
    'fallback',
    'svc',
    'fallbacks',
    ...ROUTING_FIELDS,
    'previous_response_id',
    'store',
    'background',
  ],
  bound: {
    include: { carriedBy: ['chat-completions', 'generate-content'], word: 'message.output_text.logprobs' },
    top_logprobs: { carriedBy: ['chat-completions', 'generate-content'] },
    moderation: {},
    access_programs: {},
  },
  passed: {
    'what the provider keeps of the request, at no price of its own': ['metadata'],
    'how the answer is packed': ['stream_options'],
    'how often tools of the provider are used, each of which has a price': ['max_tool_calls'],
    'what of a prompt the model is not shown, or in fewer tokens': ['truncation', 'context_management', 'image'],
    'how long the cache is kept; reading and writing it are classes of the usage': [
      'prompt_cache_retention',
      'prompt_cache_options',
    ],
    'a check of the content that providers do not charge for': ['moderation'],
    'which programs the caller takes part in': ['access_programs'],
  },
  unpriced: {
    ...NOT_OFFERED,
    'what is kept at the provider is read as well': ['conversation', 'prompt'],
  },
})

/** Fields of functions, in either shape, and of the tools that the format defines by type. */
const TOOL = fieldTree(
  [
    ...['type', 'name', 'description', 'parameters', 'strict', 'format', 'function', 'custom', 'cache_control'],
    ...['allowed_callers', 'async', 'defer_loading', 'output_schema', 'tools', 'execution', 'environment'],
    ...['search_context_size', 'search_content_types', 'user_location', 'filters', 'external_web_access', 'container'],
    ...['vector_store_ids', 'max_num_results', 'ranking_options', 'display_width', 'display_height'],
    ...['server_label', 'server_url', 'server_description', 'connector_id', 'authorization', 'headers'],
    ...['allowed_tools', 'require_approval', 'tunnel_id'],
    ...['action', 'background', 'input_fidelity', 'input_image_mask', 'model', 'moderation', 'output_compression'],
    ...['output_format', 'partial_images', 'quality', 'size', 'complexity', 'frame_count', 'frame_duration_ms', 'svg'],
  ],
  {
    function: fieldTree(['name', 'description', 'parameters', 'strict']),
    // The memory size is not listed, since larger containers cost more.
    container: fieldTree(['type', 'file_ids', 'network_policy']),
    user_location: fieldTree(['type', 'city', 'country', 'region', 'timezone']),
  },
  {
    output_schema: LOST,
    defer_loading: LOST,
    async: LOST,
    allowed_callers: boundWhere((callers) => Array.isArray(callers) && callers.some((caller) => caller !== 'direct')),
  },
)

/** Parts of the caller's and the model's messages, and of tool results. */
const PART = fieldTree(
  [
    ...[
      'type',
      'text',
      'refusal',
      'annotations',
      'logprobs',
      'detail',
      'image_url',
      'file_id',
      'file_data',
      'file_url',
    ],
    ...['filename', 'input_audio', 'prompt_cache_breakpoint', 'cache_control', 'stdout', 'stderr', 'outcome'],
  ],
  { input_audio: fieldTree(['data', 'format']), prompt_cache_breakpoint: fieldTree(['mode', 'ttl']) },
  {
    annotations: LOST,
    logprobs: LOST,
    filename: lostExcept(['messages', 'chat-completions']),
    // Some formats have a detail level for images, none for files.
    detail: lostExcept(
      [],
      (detail, { type }) => type === 'input_file' && typeof detail === 'string' && detail !== 'auto',
    ),
  },
)

/** Items of every type: messages, calls and results, also of provider-run tools. */
const ITEM = fieldTree(
  [
    ...['type', 'id', 'status', 'role', 'content', 'phase', 'summary', 'encrypted_content', 'message', 'text'],
    ...['call_id', 'name', 'namespace', 'arguments', 'input', 'async', 'caller', 'created_by', 'output', 'tools'],
    ...['reasoning', 'execution', 'code', 'container_id', 'outputs', 'queries', 'results', 'result', 'fingerprint'],
    ...['action', 'actions', 'operation', 'environment', 'max_output_length', 'error', 'cache_control'],
    ...['pending_safety_checks', 'acknowledged_safety_checks'],
    ...['server_label', 'approval_request_id', 'approve', 'reason'],
    ...['background', 'output_format', 'quality', 'revised_prompt', 'size', 'svg_usage'],
  ],
  {
    content: PART,
    output: PART,
    tools: TOOL,
    summary: fieldTree(['type', 'text']),
    caller: fieldTree(['type', 'caller_id']),
  },
  {
    phase: LOST,
    caller: lostExcept([], (caller) => isJsonObject(caller) && caller.type !== 'direct'),
  },
)

const TEXT_FORMAT = fieldTree(
  ['type', 'name', 'description', 'schema', 'strict'],
  {},
  { name: lostExcept(['chat-completions']), description: lostExcept(['chat-completions']) },
)

/** Values of `include` that have no effect, or that the body's table handles. */
const INCLUDED: ReadonlySet<unknown> = new Set(['reasoning.encrypted_content', 'message.output_text.logprobs'])

/** Fields inside tools, items, their parts, and settings. */
export const NESTED_FIELDS = fieldTree(
  undefined,
  {
    tools: TOOL,
    input: ITEM,
    reasoning: fieldTree(
      ['effort', 'summary', 'generate_summary', 'context', 'mode'],
      {},
      { context: LOST, mode: LOST },
    ),
    text: fieldTree(['format', 'verbosity'], { format: TEXT_FORMAT }),
    tool_choice: fieldTree(['type', 'name', 'mode', 'tools', 'server_label', 'namespace', 'function']),
  },
  { include: lostExcept([], (words) => Array.isArray(words) && words.some((word) => !INCLUDED.has(word))) },
)

/** Features that providers of the format lack; `cacheHints` unless the catalogue says otherwise. */
export const LACKING: readonly Feature[] = [
  'topK',
  'frequencyPenalty',
  'presencePenalty',
  'seed',
  'participants',
  'citations',
  'cacheHints',
]

export const requestFields: RequestFields = {
  nested: nestedFields(NESTED_FIELDS),
  tables: { '': BODY_FIELDS },
  spelling: {
    temperature: ['temperature'],
    topP: ['top_p'],
    verbosity: ['text.verbosity'],
    reasoning: ['reasoning'],
    userId: ['safety_identifier', 'user'],
    cacheKey: ['prompt_cache_key'],
    cacheHints: ['prompt_cache_breakpoint'],
    serviceTier: ['service_tier'],
    parallelToolCalls: ['parallel_tool_calls'],
    strictTools: ['tools.strict'],
    imageDetail: ['input.detail'],
  },
  lacking: LACKING,
  refusing: ['stop', 'choices'],
  lackingWith: {
    [QUIRKS.noSampling]: ['temperature', 'topP', 'logprobs'],
    [QUIRKS.noReasoning]: ['reasoning'],
    [QUIRKS.noVerbosity]: ['verbosity'],
  },
}
