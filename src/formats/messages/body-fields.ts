/** The body fields of messages that are passed on to providers of the format, and why. */
import type { Feature } from '@/chat/request'
import { fieldTable, type RequestFields } from '@/formats/body-fields'
import { boundWhere, type FieldTree, fieldTree, LOST, lostExcept, nestedFields } from '@/formats/nested-fields'
import { NOT_OFFERED, ROUTING_FIELDS } from '@/formats/routing-fields'
import { isJsonObject } from '@/lib/json'
import { QUIRKS } from './provider'

export const BODY_FIELDS = fieldTable({
  hub: [
    'model',
    'messages',
    'system',
    'tools',
    'tool_choice',
    'thinking',
    'output_config',
    'output_format',
    'cache_control',
    'fallback',
    'svc',
    ...ROUTING_FIELDS,
    'max_tokens',
    'stream',
    'temperature',
    'top_p',
    'top_k',
    'stop_sequences',
    'metadata',
    'service_tier',
    'betas',
    'anthropic_beta',
  ],
  ours: ['model', 'stream', 'fallback', 'svc', ...ROUTING_FIELDS, 'betas', 'anthropic_beta'],
  passed: {
    'what of the conversation the model is not shown; edits that cost a call of their own are refused by type': [
      'context_management',
    ],
    'what the answer tells about the cache': ['diagnostics'],
    'whose end user asks': ['user_profile_id'],
    'the version of the protocol, which some clients repeat in the body': ['anthropic_version'],
  },
  values: {
    speed: { values: ['standard'], because: 'a faster answer costs a multiple' },
    inference_geo: { values: ['global', 'not_available'], because: 'a region costs a surcharge' },
  },
  unpriced: {
    ...NOT_OFFERED,
    'the beginning of the conversation is kept at the provider, and read again at its full length': ['thread'],
    'another model may answer, at another price': ['fallbacks', 'fallback_credit_token'],
    'a summary is another answer to pay for': ['compaction'],
    'somebody else’s servers and tools are called': ['mcp_servers', 'container'],
    'somebody else is charged': ['billing_policy', 'workspace_id'],
  },
  // At this code, the libraries' tool runners send the whole conversation instead of a `thread`.
  codes: { thread: 'thread_unsupported_request' },
})

const TOOL_FIELDS = [
  ...['type', 'name', 'description', 'input_schema', 'strict', 'cache_control', 'defer_loading', 'input_examples'],
  ...['allowed_callers', 'eager_input_streaming', 'max_uses', 'max_content_tokens', 'max_characters', 'max_tokens'],
  ...['allowed_domains', 'blocked_domains', 'user_location', 'citations', 'url_sources', 'use_cache'],
  ...['response_inclusion', 'display_width_px', 'display_height_px', 'display_number', 'enable_zoom'],
  // Fields of toolsets and of the advisor tool. These types are refused or have a price.
  ...['mcp_server_name', 'configs', 'default_config', 'tools', 'model', 'caching'],
]

/** Fields of functions, and of the tools that the format defines by type. */
const TOOL = fieldTree(
  TOOL_FIELDS,
  { user_location: fieldTree(['type', 'city', 'country', 'region', 'timezone']) },
  {
    // Tool search can be omitted for other formats: the model then gets all tools directly.
    type: lostExcept([], (type) => typeof type === 'string' && type.startsWith('tool_search_tool_')),
    input_examples: LOST,
    defer_loading: LOST,
    eager_input_streaming: LOST,
    allowed_callers: boundWhere((callers) => Array.isArray(callers) && callers.some((caller) => caller !== 'direct')),
  },
)

const SOURCE = ['type', 'media_type', 'data', 'url', 'file_id', 'content']

const OF_RESULTS = [
  ...['text', 'title', 'url', 'page_age', 'retrieved_at', 'encrypted_content', 'stop_reason', 'file_id', 'content'],
  ...['error_code', 'error_message', 'return_code', 'stdout', 'stderr', 'encrypted_stdout', 'tool_references'],
  ...['file_type', 'num_lines', 'start_line', 'total_lines', 'is_file_update'],
  ...['lines', 'new_lines', 'new_start', 'old_lines', 'old_start'],
]

const titleOfDocument = lostExcept(
  ['chat-completions', 'responses'],
  (value, { type }) => type === 'document' && typeof value === 'string' && value !== '',
)

/** Blocks of every type, and the blocks or tool results inside their `content`. */
function blockFields(): FieldTree {
  const inside = new Map<string, FieldTree>()
  const own = new Set([
    ...OF_RESULTS,
    ...['type', 'cache_control', 'citations', 'source', 'transformations', 'context', 'thinking', 'signature', 'data'],
    ...['id', 'name', 'input', 'caller', 'toolset_name', 'tool_use_id', 'is_error', 'tool_name', 'server_name'],
    ...['tabs', 'state_changes', 'tool', 'tool_changes', 'mcp_server_name', 'tools', 'from', 'to', 'trigger'],
  ])
  const losses = new Map([
    ['citations', lostExcept([], (citations) => Array.isArray(citations) && citations.length > 0)],
    ['caller', lostExcept([], (caller) => isJsonObject(caller) && caller.type !== 'direct')],
    ['title', titleOfDocument],
    ['transformations', LOST],
    ['toolset_name', LOST],
  ])
  const block = { own, inside, losses }
  const change = fieldTree(['type', 'name', 'server_name', 'definition'], { definition: TOOL })
  inside.set('content', block)
  inside.set('source', fieldTree(SOURCE, { content: block }))
  inside.set('cache_control', fieldTree(['type', 'ttl']))
  inside.set('tool', change)
  inside.set('tool_changes', fieldTree(['type', 'tool', 'cache_control'], { tool: change }))
  return block
}

const BLOCK = blockFields()

/** A system message inside the conversation may state how long it applies, and the effort of the following turns. */
const MESSAGE = fieldTree(
  ['role', 'content', 'clear_at', 'output_config'],
  { content: BLOCK, output_config: fieldTree(['effort'], {}, { effort: LOST }) },
  { clear_at: LOST },
)

const OUTPUT_CONFIG = fieldTree(
  ['effort', 'format', 'task_budget'],
  { format: fieldTree(['type', 'schema']), task_budget: fieldTree(['type', 'total', 'remaining']) },
  { task_budget: LOST },
)

/** Fields inside tools, messages, their blocks, the system prompt's blocks, and settings. */
export const NESTED_FIELDS = fieldTree(undefined, {
  tools: TOOL,
  messages: MESSAGE,
  system: BLOCK,
  thinking: fieldTree(['type', 'budget_tokens', 'display', 'block_binding'], {}, { block_binding: LOST }),
  tool_choice: fieldTree(['type', 'name', 'disable_parallel_tool_use']),
  output_config: OUTPUT_CONFIG,
})

/** Features that no provider of the format has. Of its service tiers, other formats only have the standard one. */
export const LACKING: readonly Feature[] = [
  'frequencyPenalty',
  'presencePenalty',
  'seed',
  'verbosity',
  'cacheKey',
  'serviceTier',
  'participants',
  'imageDetail',
]

export const requestFields: RequestFields = {
  nested: nestedFields(NESTED_FIELDS),
  tables: { '': BODY_FIELDS },
  spelling: {
    temperature: ['temperature'],
    topP: ['top_p'],
    topK: ['top_k'],
    stop: ['stop_sequences'],
    reasoning: ['thinking', 'output_config.effort'],
    userId: ['metadata'],
    cacheHints: ['cache_control'],
    parallelToolCalls: ['tool_choice.disable_parallel_tool_use'],
    strictTools: ['tools.strict'],
    citations: ['citations'],
  },
  lacking: LACKING,
  refusing: ['choices'],
  lackingWith: { [QUIRKS.noSampling]: ['temperature', 'topP', 'topK'], [QUIRKS.noThinking]: ['reasoning'] },
}
