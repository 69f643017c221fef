/** The body fields of chat-completions that are passed on to providers of the format, and why. */
import type { Feature } from '@/chat/request'
import { fieldTable, type RequestFields } from '@/formats/body-fields'
import { fieldTree, LOST, lostExcept, nestedFields } from '@/formats/nested-fields'
import { NOT_OFFERED, ROUTING_FIELDS } from '@/formats/routing-fields'
import { QUIRKS } from './provider'

export const BODY_FIELDS = fieldTable({
  hub: [
    'model',
    'messages',
    'stream',
    'temperature',
    'top_p',
    'top_k',
    'frequency_penalty',
    'presence_penalty',
    'max_tokens',
    'max_completion_tokens',
    'n',
    'stop',
    'seed',
    'logprobs',
    'top_logprobs',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'functions',
    'function_call',
    'response_format',
    'reasoning_effort',
    'verbosity',
    'stream_options',
    'user',
    'safety_identifier',
    'prompt_cache_key',
    'cache_control',
    'web_search_options',
    'service_tier',
    'fallback',
    'svc',
    ...ROUTING_FIELDS,
    'fallbacks',
  ],
  ours: ['model', 'stream', 'stream_options', 'fallback', 'svc', 'fallbacks', ...ROUTING_FIELDS],
  native: ['web_search_options'],
  bound: {
    logprobs: { carriedBy: ['generate-content', 'responses'] },
    top_logprobs: { carriedBy: ['generate-content', 'responses'] },
    logit_bias: {},
    min_tokens: {},
    stop_token_ids: {},
    guided_json: {},
    guided_regex: {},
    guided_choice: {},
    guided_grammar: {},
    structured_outputs: {},
    moderation: {},
    modalities: { carriedBy: ['generate-content'], word: 'image', inStreams: true },
    image_config: { carriedBy: ['generate-content'], inStreams: true },
  },
  passed: {
    'how tokens are chosen': [
      'logit_bias',
      'min_p',
      'top_a',
      'repetition_penalty',
      'min_tokens',
      'stop_token_ids',
      'include_stop_str_in_output',
      'skip_special_tokens',
      'random_seed',
      'guided_json',
      'guided_regex',
      'guided_choice',
      'guided_grammar',
      'structured_outputs',
    ],
    'how long or how visibly to write and think; what comes of it is output and stated as such': [
      'reasoning',
      'include_reasoning',
      'reasoning_format',
      'reasoning_split',
      'thinking',
      'thinking_budget',
      'enable_thinking',
      'chat_template_kwargs',
      'prediction',
    ],
    'how the answer is packed': ['audio'],
    'in which shape pictures are made; their tokens or number are stated': ['image_config'],
    'what the provider notes of the request, at no price of its own': ['metadata'],
    'how long the cache is kept; reading and writing it are classes of the usage': [
      'prompt_cache_retention',
      'prompt_cache_options',
    ],
    'a check of the content that providers do not charge for': ['moderation', 'safe_prompt', 'safety_settings'],
  },
  values: { modalities: { values: ['text', 'image'], because: 'sounds have prices of their own' } },
  kept: { 'it would lie in the operator’s account, for nobody to read': ['store'] },
  unpriced: {
    ...NOT_OFFERED,
    'a fee for each search': ['web_search', 'search_parameters', 'enable_search', 'search_options', 'plugins'],
    'what is kept at the provider is read as well': ['previous_response_id', 'conversation', 'prompt', 'container'],
    'another model or provider, at another price': ['context_window_fallback_dict', 'mcp_servers'],
    'another address or key than the catalogue’s': [
      'api_base',
      'base_url',
      'api_key',
      'api_version',
      'custom_llm_provider',
      'extra_headers',
    ],
  },
})

const FUNCTION_FIELDS = ['name', 'description', 'parameters', 'strict', 'cache_control']

const TOOL = fieldTree(['type', 'function', 'custom', 'cache_control'], {
  function: fieldTree(FUNCTION_FIELDS),
  custom: fieldTree(['name', 'description', 'format', 'cache_control']),
})

/** Fields of a content part. OpenAI publishes none for videos, but other providers accept `video_url`. */
const PART = fieldTree(
  [
    ...['type', 'text', 'refusal', 'image_url', 'video_url', 'input_audio', 'file'],
    ...['prompt_cache_breakpoint', 'cache_control'],
  ],
  {
    image_url: fieldTree(['url', 'detail']),
    video_url: fieldTree(['url']),
    input_audio: fieldTree(['data', 'format']),
    file: fieldTree(['file_data', 'file_id', 'filename'], {}, { filename: lostExcept(['messages', 'responses']) }),
    prompt_cache_breakpoint: fieldTree(['mode', 'ttl']),
  },
)

/** Calls as clients send them back, with Gemini's signature (`extra_content`) and the `index` from streams. */
const CALL = fieldTree(['id', 'type', 'index', 'function', 'custom', 'extra_content', 'cache_control'], {
  function: fieldTree(['name', 'arguments', 'cache_control']),
  custom: fieldTree(['name', 'input']),
})

const MESSAGE = fieldTree(
  [
    ...['role', 'content', 'name', 'refusal', 'audio', 'images', 'annotations', 'cache_control'],
    ...['tool_calls', 'tool_call_id', 'function_call'],
    // Fields of other services: reasoning that they expect back, and marks that a message is to be continued.
    ...['reasoning', 'reasoning_content', 'reasoning_details', 'thinking_blocks', 'extra_content', 'prefix', 'partial'],
  ],
  { content: PART, images: PART, tool_calls: CALL, function_call: fieldTree(['name', 'arguments']) },
  {
    annotations: LOST,
    reasoning: LOST,
    reasoning_content: LOST,
    reasoning_details: LOST,
    thinking_blocks: LOST,
    prefix: LOST,
    partial: LOST,
  },
)

/** Names are not limited here: some services accept more fields of `response_format` than OpenAI publishes. */
const RESPONSE_FORMAT = fieldTree(undefined, {
  json_schema: fieldTree(undefined, {}, { name: lostExcept(['responses']), description: lostExcept(['responses']) }),
})

const TOOL_CHOICE = fieldTree(['type', 'function', 'custom', 'name', 'allowed_tools'], {
  function: fieldTree(['name']),
  custom: fieldTree(['name']),
  allowed_tools: fieldTree(['mode', 'tools']),
})

/** Fields inside tools, settings, messages, their parts and calls. */
export const NESTED_FIELDS = fieldTree(undefined, {
  tools: TOOL,
  functions: fieldTree(FUNCTION_FIELDS),
  web_search_options: fieldTree(['search_context_size', 'user_location']),
  messages: MESSAGE,
  response_format: RESPONSE_FORMAT,
  tool_choice: TOOL_CHOICE,
  stream_options: fieldTree(undefined, {}, { include_obfuscation: LOST }),
})

/** Features that providers of the format lack; `cacheHints` unless the catalogue says otherwise. */
export const LACKING: readonly Feature[] = ['topK', 'citations', 'cacheHints']

/** Fields that only providers of this format support. */
export const NATIVE_EMBEDDING_FIELDS = ['user'] as const

export const EMBEDDING_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'input',
  'dimensions',
  'encoding_format',
  'svc',
  'fallback',
  ...NATIVE_EMBEDDING_FIELDS,
])
export const OWN_EMBEDDING_FIELDS: ReadonlySet<string> = new Set(['svc', 'fallback'])

export const requestFields: RequestFields = {
  nested: nestedFields(NESTED_FIELDS),
  tables: { '': BODY_FIELDS },
  spelling: {
    temperature: ['temperature'],
    topP: ['top_p'],
    topK: ['top_k'],
    frequencyPenalty: ['frequency_penalty'],
    presencePenalty: ['presence_penalty'],
    seed: ['seed'],
    stop: ['stop'],
    choices: ['n'],
    logprobs: ['logprobs', 'top_logprobs'],
    verbosity: ['verbosity'],
    reasoning: ['reasoning_effort'],
    userId: ['safety_identifier', 'user'],
    cacheKey: ['prompt_cache_key'],
    cacheHints: ['cache_control', 'prompt_cache_breakpoint'],
    serviceTier: ['service_tier'],
    parallelToolCalls: ['parallel_tool_calls'],
    strictTools: ['tools.function.strict'],
    participants: ['messages.name'],
    imageDetail: ['messages.image_url.detail'],
  },
  lacking: LACKING,
  refusing: [],
  lackingWith: {
    [QUIRKS.noSampling]: ['temperature', 'topP', 'frequencyPenalty', 'presencePenalty'],
    [QUIRKS.noReasoningEffort]: ['reasoning'],
  },
  needs: {
    tools: ['tools', 'tool_choice', 'parallel_tool_calls', 'functions', 'function_call'],
    reasoning: [
      ...['reasoning_effort', 'reasoning', 'include_reasoning', 'reasoning_format', 'reasoning_split'],
      ...['thinking', 'thinking_budget', 'enable_thinking'],
    ],
  },
  ofEmbeddings: { all: EMBEDDING_FIELDS.difference(OWN_EMBEDDING_FIELDS), native: NATIVE_EMBEDDING_FIELDS },
}
