/** Limits of responses requests, used by the schema, its error messages and the documentation. */

/** Limits that OpenAI's service states, and generous limits if it states none. */
export const LIMITS = {
  items: { maxItems: 100_000 },
  /** Parts of one item's content. */
  parts: { maxItems: 10_000 },
  /** Includes tools of namespaces, and tools added by items. */
  tools: { maxItems: 10_000 },
  /** Length of a namespace member's provider-side name, which includes the namespace. */
  toolNameChars: 64,
  /** Length of the arguments of all calls together. Other formats send arguments as objects; here they are texts that must be parsed. */
  argumentsChars: 4 * 1024 * 1024,
  fallback: { maxItems: 8 },
  include: { maxItems: 64 },
  modelChars: { minLength: 1, maxLength: 256 },
  temperature: { minimum: 0, maximum: 2 },
  topP: { minimum: 0, maximum: 1 },
  topLogprobs: { minimum: 0, maximum: 20 },
  /** Limit of `max_output_tokens`. The service states no maximum; the model's own, lower limit also applies. */
  outputTokens: { minimum: 1, maximum: 1_000_000 },
  toolCalls: { minimum: 1, maximum: 1_000_000 },
  metadataPairs: { maxProperties: 16 },
  metadataValueChars: { maxLength: 512 },
} as const

export const TOOL_NAMES = { accepted: /^[A-Za-z0-9_-]{1,64}$/, maxChars: 64 }
