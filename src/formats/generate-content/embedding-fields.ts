/** Which fields of a generate-content client's request for embeddings are passed on: each is free, vectors cost what their inputs do. */

/** Those that only providers of this format know. */
export const NATIVE_EMBEDDING_FIELDS = ['taskType', 'title', 'autoTruncate'] as const

export const EMBEDDING_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'content',
  'outputDimensionality',
  ...NATIVE_EMBEDDING_FIELDS,
])
