/** Service tiers of Converse: a tier by its name, and the fast answers that `performanceConfig` asks for, which are the tier `optimized`. */
import { extraTier } from '@/chat/service-tier'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

const OPTIMIZED = 'optimized'

/** The fields that ask for the `service_tier` of a messages body. None for the standard tier. */
export function tierFields(tier: JsonValue | undefined): JsonObject {
  const name = extraTier(textOf(tier))
  if (name === undefined) return {}
  return name === OPTIMIZED ? { performanceConfig: { latency: OPTIMIZED } } : { serviceTier: { type: name } }
}

/** The usage field that names the tier which an answer, or the last event of a stream, says it was served by. */
export function tierOfAnswer({ serviceTier, performanceConfig }: JsonObject): JsonObject {
  const isOptimized = isJsonObject(performanceConfig) && performanceConfig.latency === OPTIMIZED
  const type = isJsonObject(serviceTier) ? textOf(serviceTier.type) : undefined
  const tier = isOptimized ? OPTIMIZED : type
  return tier === undefined ? {} : { service_tier: tier }
}
