/** The part of docs/COMPATIBILITY.md on audio; test/gateway/media/ and test/clients/audio.test.ts prove it. */

/** The section. */
export function renderAudio(): string {
  return `## Audio

\`POST /v1/audio/speech\`, \`/v1/audio/transcriptions\` and \`/v1/audio/translations\` work with providers of **C** and of Azure OpenAI.

| | |
|---|---|
| speech, \`response_format\`, \`speed\`, \`instructions\` | ✓ |
| \`stream_format: "sse"\` | ✓ |
| speech of a model priced by tokens | ✓¹ |
| \`json\`, \`verbose_json\`, \`diarized_json\`, \`srt\`, \`vtt\` | ✓ |
| \`text\` | ✓² |
| \`stream: true\` of a transcription | ✓³ |
| \`timestamp_granularities[]\`, \`include[]\`, \`chunking_strategy\`, \`known_speaker_…[]\` | ✓ |

1. the provider sends events, which state the usage; the client gets the requested form
2. the provider sends \`json\`, which states the usage
3. a model without streams sends a whole answer
`
}
