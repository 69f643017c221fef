/** Turns a shot into the bytes that go over the wire, made once before any clock runs. */
import type { Shot, WireFormat } from './job'

/** With so many bytes of prompt, a request per key would fill the memory: a few keys take turns. */
const LARGE_PROMPT_BYTES = 16_384
const KEYS_OF_LARGE_PROMPTS = 16
/** Far above what the mock upstream writes by anybody's count of tokens, so that no answer of a measurement is cut. */
const MAX_OUTPUT_TOKENS = 4_096
const SENTENCE = 'The quick brown fox jumps over the lazy dog while 7 wizards watch. '

/** One request per key, or one alone where no key is asked for. */
export function requestBytes(shot: Shot): Buffer[] {
  const body = requestBody(shot)
  const keys = shot.promptBytes > LARGE_PROMPT_BYTES ? shot.keys.slice(0, KEYS_OF_LARGE_PROMPTS) : shot.keys
  const lines = [
    `POST ${shot.path} HTTP/1.1`,
    `host: 127.0.0.1:${shot.port}`,
    'content-type: application/json',
    'accept: */*',
    'user-agent: bench',
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(shot.headers).map(([name, value]) => `${name}: ${value}`),
  ]
  const { keyHeader } = shot
  if (keyHeader === undefined || keys.length === 0) return [Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)]
  return keys.map((key) => {
    const head = [...lines, `${keyHeader.name}: ${keyHeader.prefix}${key}`].join('\r\n')
    return Buffer.from(`${head}\r\n\r\n${body}`)
  })
}

/** The JSON of one request in its format. */
export function requestBody({ format, model, stream, promptBytes }: Shot): string {
  const text = promptText(promptBytes)
  return JSON.stringify(bodyOf(format, model, stream, text))
}

/** A prompt of so many bytes, of ordinary words. */
function promptText(bytes: number): string {
  return SENTENCE.repeat(Math.ceil(bytes / SENTENCE.length)).slice(0, bytes)
}

function bodyOf(format: WireFormat, model: string, stream: boolean, text: string): Record<string, unknown> {
  const messages = [{ role: 'user', content: text }]
  switch (format) {
    case 'chat-completions':
      return {
        model,
        messages,
        max_tokens: MAX_OUTPUT_TOKENS,
        ...(stream && { stream, stream_options: { include_usage: true } }),
      }
    case 'messages':
      return { model, messages, max_tokens: MAX_OUTPUT_TOKENS, ...(stream && { stream }) }
    case 'generate-content':
      return {
        contents: [{ role: 'user', parts: [{ text }] }],
        generationConfig: { maxOutputTokens: MAX_OUTPUT_TOKENS },
      }
    case 'responses':
      return { model, input: messages, max_output_tokens: MAX_OUTPUT_TOKENS, store: false, ...(stream && { stream }) }
  }
}
