/** The part of docs/COMPATIBILITY.md on files and batches; test/clients/batches.test.ts and test/batches/ prove it. */

/** The section. */
export function renderBatches(): string {
  return `## Files and batches

\`POST /v1/files\` and \`POST /v1/batches\` of OpenAI; the lines of a file are requests to \`/v1/chat/completions\`, \`/v1/embeddings\` or
\`/v1/responses\`, to any model and provider.

| | |
|---|---|
| \`files.create\`, \`list\`, \`retrieve\`, \`content\`, \`delete\` | ✓ for \`purpose: "batch"\` |
| other purposes, \`expires_after\`, uploads in parts | ✗ |
| \`batches.create\`, \`list\`, \`retrieve\`, \`cancel\` | ✓ |
| \`completion_window\` | \`24h\` |
| a file with faults | a 400 with OpenAI's \`errors\`, and no batch |
| \`output_expires_after\` | left out |
| \`stream: true\` in a line | ✗ |
`
}
