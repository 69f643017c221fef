/** Limits of chat-completions requests, used by the schema, its error messages and the documentation. */

export const LIMITS = {
  messages: { minItems: 1, maxItems: 100 },
  contentParts: { maxItems: 4096 },
  toolCalls: { maxItems: 128 },
  /** Characters of all calls' arguments together. Other formats send arguments as objects; here they are texts that must be parsed. */
  argumentsChars: 4 * 1024 * 1024,
  tools: { maxItems: 128 },
  fallback: { maxItems: 8 },
  stop: { maxItems: 4 },
  modelChars: { minLength: 1, maxLength: 256 },
  temperature: { minimum: 0, maximum: 2 },
  topP: { minimum: 0, maximum: 1 },
  penalty: { minimum: -2, maximum: 2 },
  /** Range of `max_tokens` and of `max_completion_tokens`. */
  outputTokens: { minimum: 1, maximum: 128_000 },
  choices: { minimum: 1, maximum: 16 },
  topLogprobs: { minimum: 0, maximum: 20 },
  embeddings: {
    inputs: { minItems: 1, maxItems: 2048 },
    dimensions: { minimum: 1, maximum: 100_000 },
  },
  pictures: {
    prompt: { minLength: 1, maxLength: 32_000 },
    count: { minimum: 1, maximum: 10 },
    partials: { minimum: 0, maximum: 3 },
    compression: { minimum: 0, maximum: 100 },
    word: { maxLength: 32 },
    files: { minItems: 1, maxItems: 10 },
  },
  seed: { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
} as const

/** Tool names that providers of this format accept. */
export const TOOL_NAMES = { accepted: /^[A-Za-z0-9_-]{1,64}$/, maxChars: 64 }
