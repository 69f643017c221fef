/** The part of docs/COMPATIBILITY.md on ranked documents; test/gateway/media/ and test/clients/rerank.test.ts prove it. */

/** The section. */
export function renderRerank(): string {
  return `## Rerank

\`POST /v1/rerank\` and \`/v2/rerank\` work with providers of **C** (chat-completions) with \`/rerank\`: Cohere, Jina, Voyage AI and others.

| | \`/v1/rerank\` | \`/v2/rerank\` |
|---|---|---|
| \`top_n\`, \`return_documents\` | ✓ | ✓ |
| \`max_tokens_per_doc\`, \`truncation\` | ✓ | ✓ |
| \`max_chunks_per_doc\` | ✓ | ~¹ |
| documents as objects, \`rank_fields\` | ✓² | ✗ |
| \`meta.billed_units\` | ✓ | ✓ |
| \`usage\`, if the provider counts tokens | ✓ | · |
| images as documents | ✗ | ✗ |

1. omitted, and named in \`x-svc-left-out\`
2. the provider gets a document as plain text: its \`text\`, or a line for each field in \`rank_fields\`
`
}
