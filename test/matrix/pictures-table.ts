/** The part of docs/COMPATIBILITY.md on pictures; test/gateway/media/pictures.test.ts and test/clients/pictures.test.ts prove it. */

/** The section. */
export function renderPictures(): string {
  return `## Pictures

\`POST /v1/images/generations\` and \`/v1/images/edits\`, at providers of **C**, of Azure OpenAI, and of **G** (as a conversation).

| | C | G |
|---|:-:|:-:|
| a prompt, a \`size\` | ✓ | ✓¹ |
| \`n\` pictures | ✓ | ✗² |
| edits of up to ten pictures | ✓ | ✓ |
| \`mask\` | ✓ | ✗ |
| \`quality\`, \`background\`, \`output_format\`, \`output_compression\`, \`moderation\`, \`style\`, \`input_fidelity\` | ✓ | ~³ |
| \`response_format\` | ✓⁴ | ✓⁴ |
| \`stream\` | ✓ | ✓⁵ |
| \`partial_images\` | ✓ | ~⁵ |
| fields that are not listed | ~³ | ~³ |
| another model as a fallback | ✗ | ✗ |

1. in the nearest shape; a much narrower one is refused
2. one for each request
3. left out, and named in \`x-svc-left-out\`
4. a model that gives only base64 answers \`url\` with a \`data:\` address
5. only the finished picture
`
}
