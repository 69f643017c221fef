/** The part of docs/COMPATIBILITY.md on files and batches; test/clients/batches.test.ts and test/batches/ prove it. */

/** The section. */
export function renderBatches(): string {
  return `## Files and batches

\`POST /v1/files\` and \`POST /v1/batches\`; see [batches](guide/batches.md).

| | |
|---|---|
| \`files.create\`, \`list\`, \`retrieve\`, \`content\`, \`delete\` | ✓ for \`purpose: "batch"\` |
| other purposes, \`expires_after\`, uploads in parts | ✗ |
| \`batches.create\`, \`list\`, \`retrieve\`, \`cancel\` | ✓ |
| \`completion_window\` | \`24h\` |
| a file with faults | a 400 with OpenAI's \`errors\`, and no batch |
| \`output_expires_after\` | omitted |
| \`stream: true\` in a line | ✗ |
`
}
