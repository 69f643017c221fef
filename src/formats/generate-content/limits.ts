/** Limits of generate-content requests, used by the schema, its error messages and the documentation. */

export const LIMITS = {
  contents: { minItems: 1, maxItems: 100_000 },
  parts: { maxItems: 4096 },
  functionDeclarations: { maxItems: 512 },
  tools: { maxItems: 64 },
  fallback: { maxItems: 8 },
  modelChars: { minLength: 1, maxLength: 256 },
  temperature: { minimum: 0, maximum: 2 },
  topP: { minimum: 0, maximum: 1 },
  embeddings: { requests: { minItems: 1, maxItems: 100 }, dimensions: { minimum: 1, maximum: 100_000 } },
  /** 0 means unset: clients send it for "no limit". */
  topK: { minimum: 0, maximum: 1_000_000 },
  penalty: { minimum: -2, maximum: 2 },
  /** Tokens per candidate; far above any model, so that only absurd numbers are refused. */
  outputTokens: { minimum: 1, maximum: 10_000_000 },
  candidates: { minimum: 1, maximum: 8 },
  stopSequences: { maxItems: 5 },
  topLogprobs: { minimum: 0, maximum: 20 },
  /** The wire type is a 32-bit integer. */
  seed: { minimum: -2_147_483_648, maximum: 2_147_483_647 },
  /** Tokens; 0 turns thinking off, -1 lets the model decide. */
  thinkingBudget: { minimum: -1, maximum: 10_000_000 },
} as const

export const TOOL_NAMES = { accepted: /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/, maxChars: 128 }
