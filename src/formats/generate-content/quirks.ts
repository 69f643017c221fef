/** What the generate-content encoder and pass-through can do differently for a provider; the catalogue names them. */

export const QUIRKS = {
  /** The provider knows only the OpenAPI subset of JSON Schema, for parameters and for answers. */
  openApiSchema: 'openapi-schema',
  /** The model takes thinkingBudget and not thinkingLevel. */
  thinkingBudget: 'thinking-budget',
  /** The model does not think and refuses thinkingConfig. */
  noThinking: 'no-thinking',
  /** The provider refuses a conversation whose calls lost their signature. */
  thoughtSignatures: 'thought-signatures',
  /** The provider takes media inside a functionResponse. */
  functionResponseParts: 'function-response-parts',
  /** The provider fetches http(s) addresses by itself. */
  fileUri: 'file-uri',
  /** The provider knows no ids of calls. */
  noCallIds: 'no-call-ids',
} as const
