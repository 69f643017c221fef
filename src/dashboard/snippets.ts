/** Shows one API call in several languages: curl, and the client libraries of all four formats. */

export type SnippetCall = {
  origin: string
  key: string
  model: string
  system: string
  turns: readonly { role: 'user' | 'assistant'; text: string }[]
  temperature: number | undefined
  maxTokens: number | undefined
}

type Snippet = {
  id: 'curl' | 'openai' | 'openai-responses' | 'anthropic' | 'genai' | 'python'
  label: string
  code: string
}

export const KEY_PLACEHOLDER = 'YOUR_API_KEY'
/** The messages format requires a limit; this one is enough for most answers. */
const DEFAULT_MAX_TOKENS = 1_024

/** All snippets, in display order. */
export function snippetsOf(call: SnippetCall): Snippet[] {
  return [
    { id: 'curl', label: 'curl', code: curl(call) },
    { id: 'openai', label: 'openai (TypeScript)', code: openai(call) },
    { id: 'openai-responses', label: 'openai (Responses)', code: openaiResponses(call) },
    { id: 'anthropic', label: '@anthropic-ai/sdk', code: anthropic(call) },
    { id: 'genai', label: '@google/genai', code: genai(call) },
    { id: 'python', label: 'openai (Python)', code: python(call) },
  ]
}

function curl(call: SnippetCall): string {
  const body = JSON.stringify({ ...chatBody(call), stream: true }, null, 2)
  return [
    `curl -N ${call.origin}/v1/chat/completions \\`,
    `  -H 'Authorization: Bearer ${call.key}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '${body.replaceAll("'", "'\\''")}'`,
  ].join('\n')
}

function openai(call: SnippetCall): string {
  return `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: ${text(`${call.origin}/v1`)},
  apiKey: ${text(call.key)},
})

const stream = await client.chat.completions.create(${literal({ ...chatBody(call), stream: true })})
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? '')
}`
}

function openaiResponses({ origin, key, model, system, turns, temperature, maxTokens }: SnippetCall): string {
  const body = {
    model,
    ...(system !== '' && { instructions: system }),
    input: turns.map(({ role, text: content }) => ({ role, content })),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    stream: true,
  }
  return `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: ${text(`${origin}/v1`)},
  apiKey: ${text(key)},
})

const stream = await client.responses.create(${literal(body)})
for await (const event of stream) {
  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta)
}`
}

function anthropic({ origin, key, model, system, turns, temperature, maxTokens }: SnippetCall): string {
  const body = {
    model,
    max_tokens: maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(system !== '' && { system }),
    messages: turns.map(({ role, text: content }) => ({ role, content })),
    // The messages format allows temperatures up to 1.
    ...(temperature !== undefined && { temperature: Math.min(temperature, 1) }),
  }
  return `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: ${text(origin)},
  apiKey: ${text(key)},
})

const stream = client.messages.stream(${literal(body)})
stream.on('text', (text) => process.stdout.write(text))
await stream.finalMessage()`
}

function genai({ origin, key, model, system, turns, temperature, maxTokens }: SnippetCall): string {
  const config = {
    ...(system !== '' && { systemInstruction: system }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
  }
  const body = {
    model,
    contents: turns.map((turn) => ({
      role: turn.role === 'assistant' ? 'model' : 'user',
      parts: [{ text: turn.text }],
    })),
    ...(Object.keys(config).length > 0 && { config }),
  }
  return `import { GoogleGenAI } from '@google/genai'

const client = new GoogleGenAI({
  apiKey: ${text(key)},
  httpOptions: { baseUrl: ${text(origin)} },
})

const stream = await client.models.generateContentStream(${literal(body)})
for await (const chunk of stream) {
  process.stdout.write(chunk.text ?? '')
}`
}

function python(call: SnippetCall): string {
  const fields = Object.entries(chatBody(call)).map(([name, value]) => `    ${name}=${pythonValue(value)},`)
  return `from openai import OpenAI

client = OpenAI(
    base_url=${text(`${call.origin}/v1`)},
    api_key=${text(call.key)},
)

stream = client.chat.completions.create(
${fields.join('\n')}
    stream=True,
)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="", flush=True)`
}

function chatBody({ model, system, turns, temperature, maxTokens }: SnippetCall) {
  const instructions = system === '' ? [] : [{ role: 'system', content: system }]
  return {
    model,
    messages: [...instructions, ...turns.map(({ role, text: content }) => ({ role, content }))],
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  }
}

/** A string literal in single quotes, valid in TypeScript and Python. */
function text(value: string): string {
  const inner = JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${inner}'`
}

/** A value as TypeScript, indented by two spaces. */
function literal(value: unknown, indent = ''): string {
  const deeper = `${indent}  `
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) {
    const items = value.map((item) => `${deeper}${literal(item, deeper)},`)
    return `[\n${items.join('\n')}\n${indent}]`
  }
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value)
  const isFlat = entries.every(([, item]) => typeof item !== 'object') && indent !== ''
  if (isFlat) return `{ ${entries.map(([name, item]) => `${name}: ${literal(item)}`).join(', ')} }`
  return `{\n${entries.map(([name, item]) => `${deeper}${name}: ${literal(item, deeper)},`).join('\n')}\n${indent}}`
}

function pythonValue(value: unknown): string {
  if (!Array.isArray(value)) return typeof value === 'string' ? text(value) : String(value)
  const items = value.map((item: object) => {
    const entries = Object.entries(item).map(([name, field]) => `"${name}": ${text(String(field))}`)
    return `        {${entries.join(', ')}},`
  })
  return `[\n${items.join('\n')}\n    ]`
}
