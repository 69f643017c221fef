/** OpenRouter's body fields for routing: accepted in every format, and never sent to a provider. */

/** The routing fields that routing-words.ts reads. */
export const ROUTING_FIELDS = ['usage', 'models', 'provider', 'route'] as const

/** Fields that are refused unless they are empty, grouped by the reason. */
export const NOT_OFFERED = { 'what is too long is refused, and not shortened': ['transforms'] }
