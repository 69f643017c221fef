/** The part of docs/COMPATIBILITY.md on embeddings; test/gateway/embed/ and test/clients/embeddings.test.ts prove it. */

/** The section. */
export function renderEmbeddings(): string {
  return `## Embeddings

\`POST /v1/embeddings\` for **C**, \`:embedContent\` and \`:batchEmbedContents\` for **G**. \`C→G\`: a client of C, a provider of G.

| | C→C | C→G | G→C | G→G |
|---|:-:|:-:|:-:|:-:|
| a text, a list of texts | ✓ | ✓ | ✓ | ✓ |
| lists of tokens | ✓ | ✗¹ | · | · |
| vectors as numbers | ✓ | ✓ | ✓ | ✓ |
| vectors in base64 (\`encoding_format\`) | ✓ | ✓² | · | · |
| the provider's other encoding | ✓² | · | ✓² | · |
| \`dimensions\`, \`outputDimensionality\` | ✓ | ✓ | ✓ | ✓ |
| more than 100 inputs | · | ✓³ | · | · |
| \`user\` | ✓ | ~⁴ | · | · |
| \`taskType\`, \`title\`, \`autoTruncate\` | · | · | ~⁴ | ✓ |
| several texts in one content | · | · | ~⁵ | ✓ |
| images | · | · | ✗ | ✗ |
| usage that the provider omits | ✓⁶ | ✓⁶ | ✓⁶ | ✓⁶ |

1. unless another target of the model accepts tokens
2. converted to the nearest 32-bit floats
3. by several calls; if one fails, the request fails and costs nothing
4. omitted, and named in \`x-svc-left-out\`
5. joined by line feeds
6. counted by the gateway, and marked as estimated

Within one format and encoding the vectors pass unchanged. Requests for embeddings, audio, images and rerank refuse a \`fallback\` list,
and omit unlisted fields (named in \`x-svc-left-out\`).
`
}
