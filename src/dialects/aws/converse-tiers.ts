/** Service tiers of Converse: named tiers, and `performanceConfig`, which is treated as the tier `optimized`. */
import { extraTier } from '@/chat/service-tier'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

const OPTIMIZED = 'optimized'

/** The fields for the `service_tier` of a messages body; none for the standard tier. */
export function tierFields(tier: JsonValue | undefined): JsonObject {
  const name = extraTier(textOf(tier))
  if (name === undefined) return {}
  return name === OPTIMIZED ? { performanceConfig: { latency: OPTIMIZED } } : { serviceTier: { type: name } }
}

/** The usage field with the tier named by an answer or a stream's last event. */
export function tierOfAnswer({ serviceTier, performanceConfig }: JsonObject): JsonObject {
  const isOptimized = isJsonObject(performanceConfig) && performanceConfig.latency === OPTIMIZED
  const type = isJsonObject(serviceTier) ? textOf(serviceTier.type) : undefined
  const tier = isOptimized ? OPTIMIZED : type
  return tier === undefined ? {} : { service_tier: tier }
}
