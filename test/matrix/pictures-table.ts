/** The part of docs/COMPATIBILITY.md on images; test/gateway/media/pictures.test.ts and test/clients/pictures.test.ts prove it. */

/** The section. */
export function renderPictures(): string {
  return `## Images

\`POST /v1/images/generations\` and \`/v1/images/edits\` work with providers of **C**, of Azure OpenAI, and of **G** (as a conversation).

| | C | G |
|---|:-:|:-:|
| a prompt, a \`size\` | ✓ | ✓¹ |
| \`n\` images | ✓ | ✗² |
| edits of up to ten images | ✓ | ✓ |
| \`mask\` | ✓ | ✗ |
| \`quality\`, \`background\`, \`output_format\`, \`output_compression\`, \`moderation\`, \`style\`, \`input_fidelity\` | ✓ | ~³ |
| \`response_format\` | ✓⁴ | ✓⁴ |
| \`stream\` | ✓ | ✓⁵ |
| \`partial_images\` | ✓ | ~⁵ |

1. in the nearest aspect ratio; a much narrower one is refused
2. one image for each request
3. omitted, and named in \`x-svc-left-out\`
4. a model with base64 only answers \`url\` with a \`data:\` URL
5. only the finished image
`
}
