/** The numbers a responses request may not exceed; the schema, its messages and the docs all read them here. */

/** Where the service states no bound, it is one of sanity. */
export const LIMITS = {
  items: { maxItems: 100_000 },
  /** Per item. */
  parts: { maxItems: 10_000 },
  /** Tools of all namespaces, and of items that add some, count as well. */
  tools: { maxItems: 10_000 },
  /** Of the name that a member of a namespace has towards providers, its namespace included. */
  toolNameChars: 64,
  /** Of all calls together. Other formats have arguments as objects, so this much text is parsed out of strings. */
  argumentsChars: 4 * 1024 * 1024,
  fallback: { maxItems: 8 },
  include: { maxItems: 64 },
  modelChars: { minLength: 1, maxLength: 256 },
  temperature: { minimum: 0, maximum: 2 },
  topP: { minimum: 0, maximum: 1 },
  topLogprobs: { minimum: 0, maximum: 20 },
  /** Tokens. The service leaves the maximum open: the model's own limit rules below this. */
  outputTokens: { minimum: 1, maximum: 1_000_000 },
  toolCalls: { minimum: 1, maximum: 1_000_000 },
  metadataPairs: { maxProperties: 16 },
  metadataValueChars: { maxLength: 512 },
} as const

/** Names of tools, as providers of this format take them. */
export const TOOL_NAMES = { accepted: /^[A-Za-z0-9_-]{1,64}$/, maxChars: 64 }
