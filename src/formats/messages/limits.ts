/** Limits of messages requests, used by the schema, its messages and the docs. */

/** Limits of the vendor's service; if it states none, a generous one. */
export const LIMITS = {
  messages: { minItems: 1, maxItems: 100_000 },
  /** Per message. */
  blocks: { maxItems: 10_000 },
  tools: { maxItems: 10_000 },
  toolNameChars: { minLength: 1, maxLength: 256 },
  fallback: { maxItems: 10 },
  modelChars: { minLength: 1, maxLength: 256 },
  temperature: { minimum: 0, maximum: 1 },
  topP: { minimum: 0, maximum: 1 },
  topK: { minimum: 0, maximum: 1_000_000 },
  /** Tokens; 0 only warms the cache. The service states no maximum; the model's own limit applies below this. */
  outputTokens: { minimum: 0, maximum: 1_000_000 },
  stopSequences: { maxItems: 1000 },
  stopChars: { minLength: 1, maxLength: 10_000 },
  /** Tokens; the minimum is the API's. */
  thinkingBudget: { minimum: 1024, maximum: 1_000_000 },
} as const

export const TOOL_NAMES = { accepted: /^[A-Za-z0-9_-]{1,128}$/, maxChars: 128 }
