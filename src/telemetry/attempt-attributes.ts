/** The attributes of a span for one provider call, by the GenAI conventions: numbers and names, never content. */
import type { Attributes } from '@opentelemetry/api'
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
} from '@opentelemetry/semantic-conventions'
import {
  ATTR_GEN_AI_EMBEDDINGS_DIMENSION_COUNT,
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_OUTPUT_TYPE,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_CHOICE_COUNT,
  ATTR_GEN_AI_REQUEST_ENCODING_FORMATS,
  ATTR_GEN_AI_REQUEST_FREQUENCY_PENALTY,
  ATTR_GEN_AI_REQUEST_MAX_TOKENS,
  ATTR_GEN_AI_REQUEST_MODEL,
  ATTR_GEN_AI_REQUEST_PRESENCE_PENALTY,
  ATTR_GEN_AI_REQUEST_SEED,
  ATTR_GEN_AI_REQUEST_STREAM,
  ATTR_GEN_AI_REQUEST_TEMPERATURE,
  ATTR_GEN_AI_REQUEST_TOP_K,
  ATTR_GEN_AI_REQUEST_TOP_P,
  ATTR_GEN_AI_RESPONSE_FINISH_REASONS,
  ATTR_GEN_AI_RESPONSE_ID,
  ATTR_GEN_AI_RESPONSE_MODEL,
  ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
  ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS,
} from '@opentelemetry/semantic-conventions/incubating'
import type { Provider } from '@/catalog/types'
import type { ChatRequest } from '@/chat/request'
import type { FinishKind } from '@/chat/response'
import { inputTokens, type Usage } from '@/chat/usage'
import type { EndedAnswer } from '@/metrics/ended-answer'
import { type AttemptFault, classify } from '@/routing/failover/fault-class'
import type { AttemptStart } from './tracing'

/** The conventions' names of providers, by the end of the host name. Any other provider has its name in the catalogue. */
const WELL_KNOWN_HOSTS: readonly (readonly [string, string])[] = [
  ['api.openai.com', 'openai'],
  ['api.anthropic.com', 'anthropic'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['aiplatform.googleapis.com', 'gcp.vertex_ai'],
  ['openai.azure.com', 'azure.ai.openai'],
  ['services.ai.azure.com', 'azure.ai.inference'],
  ['api.cohere.com', 'cohere'],
  ['api.deepseek.com', 'deepseek'],
  ['api.groq.com', 'groq'],
  ['api.mistral.ai', 'mistral_ai'],
  ['api.perplexity.ai', 'perplexity'],
  ['api.x.ai', 'x_ai'],
]

const FINISH_REASONS: Readonly<Record<FinishKind, string>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  length: 'length',
  'context-length': 'length',
  'tool-calls': 'tool_call',
  'content-filter': 'content_filter',
  pause: 'pause',
  error: 'error',
  unknown: 'unknown',
}

const MAX_NAME_CHARS = 256

const placesOfProviders = new WeakMap<Provider, Attributes>()

/** The target's attributes, also for the metrics of the call. */
export function targetAttributes({ operation, planned: { target } }: AttemptStart): Attributes {
  return {
    [ATTR_GEN_AI_OPERATION_NAME]: operation,
    [ATTR_GEN_AI_REQUEST_MODEL]: target.model,
    ...placeOf(target.provider),
  }
}

function placeOf(provider: Provider): Attributes {
  const known = placesOfProviders.get(provider)
  if (known) return known
  const { hostname, port, protocol } = new URL(provider.baseUrl)
  const isAt = (end: string) => hostname === end || hostname.endsWith(`.${end}`)
  const place = {
    [ATTR_GEN_AI_PROVIDER_NAME]: WELL_KNOWN_HOSTS.find(([end]) => isAt(end))?.[1] ?? provider.name,
    [ATTR_SERVER_ADDRESS]: hostname,
    [ATTR_SERVER_PORT]: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
  placesOfProviders.set(provider, place)
  return place
}

/** The attributes of the request to the provider. */
export function requestAttributes(start: AttemptStart): Attributes {
  const { number, planned } = start
  const own = {
    'svc.attempt.number': number,
    'svc.provider': planned.target.provider.name,
    'svc.model': planned.model.id,
  }
  if (start.operation === 'chat') return { ...own, ...chatAttributes(start.request) }
  if (start.operation !== 'embeddings')
    return { ...own, [ATTR_GEN_AI_REQUEST_STREAM]: start.request.stream || undefined }
  const { dimensions, encoding, inputs } = start.request
  return {
    ...own,
    [ATTR_GEN_AI_EMBEDDINGS_DIMENSION_COUNT]: dimensions,
    [ATTR_GEN_AI_REQUEST_ENCODING_FORMATS]: [encoding],
    'svc.embeddings.inputs': inputs.length,
  }
}

function chatAttributes(request: ChatRequest): Attributes {
  const { sampling, stream, choices, output, maxOutputTokens } = request
  return {
    [ATTR_GEN_AI_REQUEST_STREAM]: stream || undefined,
    [ATTR_GEN_AI_REQUEST_MAX_TOKENS]: maxOutputTokens,
    [ATTR_GEN_AI_REQUEST_TEMPERATURE]: sampling.temperature,
    [ATTR_GEN_AI_REQUEST_TOP_P]: sampling.topP,
    [ATTR_GEN_AI_REQUEST_TOP_K]: sampling.topK,
    [ATTR_GEN_AI_REQUEST_FREQUENCY_PENALTY]: sampling.frequencyPenalty,
    [ATTR_GEN_AI_REQUEST_PRESENCE_PENALTY]: sampling.presencePenalty,
    [ATTR_GEN_AI_REQUEST_SEED]: sampling.seed,
    [ATTR_GEN_AI_REQUEST_CHOICE_COUNT]: choices === 1 ? undefined : choices,
    [ATTR_GEN_AI_OUTPUT_TYPE]: output.type === 'text' ? undefined : 'json',
  }
}

/** The attributes of the result. Charged counts override the provider's, as the conventions ask for billed tokens. */
export function answerAttributes(answer: EndedAnswer): Attributes {
  const { charge, finish, answeredAs, ending, providerCost } = answer
  return {
    ...usageAttributes(usageOf(answer)),
    [ATTR_GEN_AI_RESPONSE_ID]: nameOf(answeredAs.id),
    [ATTR_GEN_AI_RESPONSE_MODEL]: nameOf(answeredAs.model),
    [ATTR_GEN_AI_RESPONSE_FINISH_REASONS]: finish && [finishReason(finish)],
    'svc.ending': ending,
    'svc.cost_nano_usd': charge.kind === 'charge' ? charge.cost : 0,
    'svc.billing_rule': charge.kind === 'charge' ? charge.rule : 'free',
    'svc.provider_cost_nano_usd': providerCost,
  }
}

/** Shortens a name, since providers may send names of any length. */
function nameOf(text: string): string | undefined {
  return text.slice(0, MAX_NAME_CHARS) || undefined
}

/** The tokens of an answer; undefined if unknown. */
export function usageOf({ charge, usage }: Pick<EndedAnswer, 'charge' | 'usage'>): Usage | undefined {
  return charge.kind === 'charge' ? charge.usage : (usage ?? undefined)
}

function usageAttributes(usage: Usage | undefined): Attributes {
  if (!usage) return {}
  return {
    [ATTR_GEN_AI_USAGE_INPUT_TOKENS]: inputTokens(usage),
    [ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: usage.output,
    [ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS]: usage.cacheRead,
    [ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS]: usage.cacheWrite5m + usage.cacheWrite1h,
    [ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS]: usage.reasoning,
  }
}

/** The name of a finish reason in the GenAI conventions. */
export function finishReason(kind: FinishKind): string {
  return FINISH_REASONS[kind]
}

/** The error without the provider's text, which may quote the request. Undefined means an error of ours. */
export function faultAttributes(fault: AttemptFault | undefined): Attributes & { [ATTR_ERROR_TYPE]: string } {
  if (!fault) return { [ATTR_ERROR_TYPE]: 'internal' }
  const faultClass = { 'svc.attempt.fault_class': classify(fault) }
  if (fault.kind === 'refused') {
    const { status, reason } = fault.error
    return {
      ...faultClass,
      [ATTR_ERROR_TYPE]: String(status || reason),
      [ATTR_HTTP_RESPONSE_STATUS_CODE]: status || undefined,
      'svc.attempt.reason': reason,
    }
  }
  const phase = fault.kind === 'timeout' ? { 'svc.attempt.timeout_phase': fault.phase } : {}
  return { ...faultClass, ...phase, [ATTR_ERROR_TYPE]: fault.kind }
}
