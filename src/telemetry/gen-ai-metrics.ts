/** Metrics of the GenAI conventions with the recommended buckets: of calls to providers, and of clients' answers. */
import type { Attributes, Meter } from '@opentelemetry/api'
import { ATTR_ERROR_TYPE } from '@opentelemetry/semantic-conventions'
import {
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_MODEL,
  ATTR_GEN_AI_TOKEN_TYPE,
  GEN_AI_TOKEN_TYPE_VALUE_INPUT,
  GEN_AI_TOKEN_TYPE_VALUE_OUTPUT,
  METRIC_GEN_AI_CLIENT_OPERATION_DURATION,
  METRIC_GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK,
  METRIC_GEN_AI_CLIENT_TOKEN_USAGE,
  METRIC_GEN_AI_SERVER_REQUEST_DURATION,
  METRIC_GEN_AI_SERVER_TIME_PER_OUTPUT_TOKEN,
  METRIC_GEN_AI_SERVER_TIME_TO_FIRST_TOKEN,
} from '@opentelemetry/semantic-conventions/incubating'
import { inputTokens } from '@/chat/usage'
import type { EndedAnswer } from '@/metrics/ended-answer'
import { usageOf } from './attempt-attributes'

const DURATIONS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864]
const FIRST_TOKENS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const PER_TOKEN = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]

/** `target`: the attributes of the operation, the provider and its model. */
export interface GenAiMetrics {
  /** A call to a provider has ended; `errorType` is set if it failed. Times are milliseconds. */
  called(target: Attributes, call: { durationMs: number; firstChunkMs: number | undefined; errorType?: string }): void
  /** An answer has ended: records its usage, and the client's result. */
  answered(target: Attributes, facts: EndedAnswer, errorType: string | undefined): void
}

export function createGenAiMetrics(meter: Meter): GenAiMetrics {
  function seconds(name: string, description: string, explicitBucketBoundaries: number[]) {
    return meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries } })
  }
  const duration = seconds(METRIC_GEN_AI_CLIENT_OPERATION_DURATION, 'Duration of a call to a provider.', DURATIONS)
  const firstChunk = seconds(METRIC_GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK, 'Until its first chunk.', DURATIONS)
  const served = seconds(METRIC_GEN_AI_SERVER_REQUEST_DURATION, 'From a request to the end of its answer.', DURATIONS)
  const firstToken = seconds(METRIC_GEN_AI_SERVER_TIME_TO_FIRST_TOKEN, 'Until its first token.', FIRST_TOKENS)
  const perToken = seconds(METRIC_GEN_AI_SERVER_TIME_PER_OUTPUT_TOKEN, 'Of each later token.', PER_TOKEN)
  const tokens = meter.createHistogram(METRIC_GEN_AI_CLIENT_TOKEN_USAGE, {
    unit: '{token}',
    description: 'Tokens that were used.',
    advice: { explicitBucketBoundaries: TOKENS },
  })
  return {
    called(target, { durationMs, firstChunkMs, errorType }) {
      duration.record(durationMs / 1000, errorType === undefined ? target : { ...target, [ATTR_ERROR_TYPE]: errorType })
      if (firstChunkMs !== undefined) firstChunk.record(firstChunkMs / 1000, target)
    },
    answered(target, facts, errorType) {
      const usage = usageOf(facts)
      if (usage) {
        tokens.record(inputTokens(usage), { ...target, [ATTR_GEN_AI_TOKEN_TYPE]: GEN_AI_TOKEN_TYPE_VALUE_INPUT })
        tokens.record(usage.output, { ...target, [ATTR_GEN_AI_TOKEN_TYPE]: GEN_AI_TOKEN_TYPE_VALUE_OUTPUT })
      }
      const sold = soldAs(target, facts.model)
      const { durationMs, firstTokenMs } = facts
      served.record(durationMs / 1000, errorType === undefined ? sold : { ...sold, [ATTR_ERROR_TYPE]: errorType })
      if (firstTokenMs === null) return
      firstToken.record(firstTokenMs / 1000, sold)
      const laterTokens = (usage?.output ?? 0) - 1
      // The rounded time of the first token may exceed the duration. A histogram drops negative values.
      if (laterTokens > 0) perToken.record(Math.max(0, durationMs - firstTokenMs) / 1000 / laterTokens, sold)
    },
  }
}

/** The attributes for clients: the model has its public name, and the server is this gateway. */
function soldAs(target: Attributes, model: string): Attributes {
  return {
    [ATTR_GEN_AI_OPERATION_NAME]: target[ATTR_GEN_AI_OPERATION_NAME],
    [ATTR_GEN_AI_PROVIDER_NAME]: target[ATTR_GEN_AI_PROVIDER_NAME],
    [ATTR_GEN_AI_REQUEST_MODEL]: model,
  }
}
