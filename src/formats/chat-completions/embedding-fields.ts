/** Which fields of a chat-completions client's request for embeddings are passed on: each is free, vectors cost what their inputs do. */

/** Those that only providers of this format know. */
export const NATIVE_EMBEDDING_FIELDS = ['user'] as const

export const EMBEDDING_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'input',
  'dimensions',
  'encoding_format',
  'svc',
  'fallback',
  ...NATIVE_EMBEDDING_FIELDS,
])
/** Those of them that are the gateway's own, and never sent. */
export const OWN_EMBEDDING_FIELDS: ReadonlySet<string> = new Set(['svc', 'fallback'])
