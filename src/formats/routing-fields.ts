/** The fields by which clients of OpenRouter say what they wish of routing: taken by every format, and never sent to a provider. */

/** Read by routing-words.ts. */
export const ROUTING_FIELDS = ['usage', 'models', 'provider', 'route'] as const

/** Taken if they ask for nothing, else refused. */
export const NOT_OFFERED = { 'what is too long is refused, and not shortened': ['transforms'] }
