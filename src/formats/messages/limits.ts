/** Limits of messages requests, used by the schema, its error messages and the documentation. */

/** Limits that the vendor's service states, and generous limits if it states none. */
export const LIMITS = {
  messages: { minItems: 1, maxItems: 100_000 },
  /** Content blocks of one message. */
  blocks: { maxItems: 10_000 },
  tools: { maxItems: 10_000 },
  toolNameChars: { minLength: 1, maxLength: 256 },
  fallback: { maxItems: 10 },
  modelChars: { minLength: 1, maxLength: 256 },
  temperature: { minimum: 0, maximum: 1 },
  topP: { minimum: 0, maximum: 1 },
  topK: { minimum: 0, maximum: 1_000_000 },
  /** Tokens; with 0, the request only fills the cache. The service states no maximum; the model's own, lower limit also applies. */
  outputTokens: { minimum: 0, maximum: 1_000_000 },
  stopSequences: { maxItems: 1000 },
  stopChars: { minLength: 1, maxLength: 10_000 },
  /** Tokens. The vendor's API sets the minimum. */
  thinkingBudget: { minimum: 1024, maximum: 1_000_000 },
} as const

export const TOOL_NAMES = { accepted: /^[A-Za-z0-9_-]{1,128}$/, maxChars: 128 }
