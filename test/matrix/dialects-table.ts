/** The part of docs/COMPATIBILITY.md on dialects that take less than their format does: the outcome of each feature is asked of the dialects. */
import { targetOfEntry } from '@test/dialects/provider-entry'
import { GatewayError } from '@/chat/error'
import { describeBeta } from '@/formats/messages/betas'
import type { JsonObject } from '@/lib/json'
import { isCarried, type Row, renderRows } from './rows'

const AT = { baseUrl: 'http://127.0.0.1:1', keys: ['k'] }
const BEDROCK = { format: 'messages', ...AT }
/** The entry of a provider, and the model that it is asked for. */
const COLUMNS: readonly [title: string, entry: JsonObject, model: string][] = [
  ['InvokeModel', { ...BEDROCK, dialect: 'bedrock-invoke' }, 'anthropic.claude-x-v1:0'],
  ['Converse, Claude', { ...BEDROCK, dialect: 'bedrock-converse' }, 'eu.anthropic.claude-x-v1:0'],
  ['Converse, others', { ...BEDROCK, dialect: 'bedrock-converse' }, 'mistral.mistral-x-v1:0'],
  ['Claude at Vertex', { preset: 'vertex-anthropic', project: 'p', location: 'global', ...AT }, 'claude-x@20250929'],
]

const BYTES = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
const PDF = { type: 'base64', media_type: 'application/pdf', data: 'AAAA' }
const BY_ADDRESS = { type: 'url', url: 'https://a.example/x' }
const says = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] })
const TOOLS = { tools: [{ name: 'look', input_schema: { type: 'object' } }] }
const CALLED = [
  { role: 'user', content: 'Look.' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'a cat' }] },
]
const TRACED = [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }] },
]
const cached = (more: JsonObject = {}) =>
  says({ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ...more } })

const ROWS: readonly [name: string, body: JsonObject, betas?: string][] = [
  ['text and a system prompt', { ...says({ type: 'text', text: 'Hi' }), system: 'Be brief.' }],
  ['tools, calls and results', { ...TOOLS, messages: CALLED }],
  ['any tool, or one by its name', { ...TOOLS, tool_choice: { type: 'tool', name: 'look' } }],
  ['no tools, after calls', { ...TOOLS, messages: CALLED, tool_choice: { type: 'none' } }],
  ['one call at a time', { ...TOOLS, tool_choice: { type: 'auto', disable_parallel_tool_use: true } }],
  ['an image in bytes', says({ type: 'image', source: BYTES })],
  ['an image by its address', says({ type: 'image', source: BY_ADDRESS })],
  ['a document in bytes', says({ type: 'document', source: PDF })],
  ['a document by its address', says({ type: 'document', source: BY_ADDRESS })],
  ['a search result', says({ type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'x' }] })],
  ['a tool defined by its name only (`bash_…`, `memory_…`)', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
  ['earlier results of a tool at the provider', { messages: TRACED }],
  ['a schema for the answer', { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }],
  ['thinking', { thinking: { type: 'enabled', budget_tokens: 1024 } }],
  ['`temperature`, `top_p`, `stop_sequences`', { temperature: 0.5, top_p: 0.5, stop_sequences: ['x'] }],
  ['`top_k`', { top_k: 5 }],
  ['cache marks', cached()],
  ['`metadata`', { metadata: { user_id: 'u' } }],
  ['`service_tier`', { service_tier: 'auto' }],
  ['`context_management`', { context_management: { edits: [] } }],
  ['a beta that the cloud knows', {}, 'context-1m-2025-08-07'],
  ['another beta', {}, 'claude-code-20250219'],
]

/** The section. */
export function renderDialects(): string {
  const rows = ROWS.map(([name, body, betas]): Row => {
    return { name, marks: COLUMNS.map((column) => markOf(column, body, betas)) }
  })
  const carried = rows.filter(isCarried).map(({ name }) => name)
  const others = rows.filter((row) => !isCarried(row))
  return `## Dialects that support less than messages

\`azure-openai\` and \`vertex\` support all of their formats. \`x-svc-left-out\` names fields that a dialect omits (~).

✓ in all: ${carried.join(' · ')}.

${renderRows(
  '',
  COLUMNS.map(([title]) => title),
  others,
)}
`
}

/** Asked of the dialect itself; a preset's quirks keep addresses from it. */
function markOf([, entry, model]: (typeof COLUMNS)[number], more: JsonObject, betas?: string): string {
  const { provider, quirks } = targetOfEntry(entry, model)
  const body = { model, max_tokens: 2048, messages: [{ role: 'user', content: 'Hi' }], ...more }
  if (quirks.has('no-url-sources') && JSON.stringify(body).includes(BY_ADDRESS.url)) return '✗'
  try {
    if (betas !== undefined && provider.dialect.takenBeta?.(describeBeta(betas, {})) === undefined) return '~'
    const sealed = provider.dialect.envelope?.(body, {})
    return sealed && sealed.leftOut.length > 0 ? '~' : '✓'
  } catch (error) {
    if (error instanceof GatewayError) return '✗'
    throw error
  }
}
