/** The tables of the guide that the code itself knows: errors in every format's words, and limits with their values. */
import { join } from 'node:path'
import { type ErrorKind, GatewayError, STATUS_OF_KIND } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import { loadConfig } from '@/config/config'
import { LIMITS as CHAT } from '@/formats/chat-completions/limits'
import { LIMITS as GENERATE } from '@/formats/generate-content/limits'
import { FORMATS } from '@/formats/index'
import { LIMITS as MESSAGES } from '@/formats/messages/limits'
import { LIMITS as RESPONSES } from '@/formats/responses/limits'
import { assert } from '@/lib/assert'
import { SIZE_ROWS } from './sizes'

const ROOT = join(import.meta.dir, '..', '..', '..')

/** What stands between the marks of each name. */
export async function guideBlocks(): Promise<Record<string, string>> {
  return { kinds: kindsTable(), fields: fieldsTable(), rates: await ratesTable(), sizes: sizesTable() }
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n')
}

const code = (text: unknown) => (text === null || text === undefined ? '–' : `\`${String(text)}\``)

type Told = { status: number; error: Record<string, unknown> }

/** The error of this kind as the format tells it. */
function told(name: FormatName, kind: ErrorKind): Told {
  const format = FORMATS.get(name)
  assert(format, `there is ${name}`)
  const { status, body } = format.encodeError(new GatewayError(kind, 'words'), 'req_1')
  return { status, error: (body as { error: Record<string, unknown> }).error }
}

function kindsTable(): string {
  const heads = ['kind', 'chat-completions, responses: `type`, `code`', 'messages: `type`']
  const rows = Object.entries(STATUS_OF_KIND).map(([name, status]) => {
    const kind = name as ErrorKind
    const chat = told('chat-completions', kind)
    assert(Bun.deepEquals(told('responses', kind), chat), 'both formats have the same words')
    const messages = told('messages', kind)
    const generate = told('generate-content', kind)
    const reason = (generate.error.details as { reason?: string }[]).find((detail) => detail.reason)?.reason
    const own = messages.status === status ? '' : ` (${messages.status})`
    const words = `${code(chat.error.type)}, ${code(chat.error.code)}`
    return [code(kind), words, `${code(messages.error.type)}${own}`, `${code(generate.error.status)}, ${code(reason)}`]
  })
  return table([...heads, 'generate-content: `status`, `reason`'], rows)
}

/** A field by what callers know it by, and the names that its limit has in chat-completions, responses, messages and generate-content. */
const FIELD_ROWS: readonly (readonly [string, string, string, string, string])[] = [
  ['entries of `messages`, `input`, `contents`', 'messages', 'items', 'messages', 'contents'],
  ['parts of one entry', 'contentParts', 'parts', 'blocks', 'parts'],
  ['tool calls in one message', 'toolCalls', '', '', ''],
  ['characters of all `arguments` together', 'argumentsChars', 'argumentsChars', '', ''],
  ['entries of `tools`', 'tools', 'tools', 'tools', 'tools'],
  ['function declarations', '', '', '', 'functionDeclarations'],
  ['characters of a tool’s name', '', 'toolNameChars', 'toolNameChars', ''],
  ['`max_tool_calls`', '', 'toolCalls', '', ''],
  ['entries of `fallback`', 'fallback', 'fallback', 'fallback', 'fallback'],
  ['characters of `model`', 'modelChars', 'modelChars', 'modelChars', 'modelChars'],
  ['output limit, tokens', 'outputTokens', 'outputTokens', 'outputTokens', 'outputTokens'],
  ['`temperature`', 'temperature', 'temperature', 'temperature', 'temperature'],
  ['`top_p`', 'topP', 'topP', 'topP', 'topP'],
  ['`top_k`', '', '', 'topK', 'topK'],
  ['presence and frequency penalty', 'penalty', '', '', 'penalty'],
  ['stop sequences', 'stop', '', 'stopSequences', 'stopSequences'],
  ['characters of a stop sequence', '', '', 'stopChars', ''],
  ['answers (`n`, `candidateCount`)', 'choices', '', '', 'candidates'],
  ['`top_logprobs`', 'topLogprobs', 'topLogprobs', '', 'topLogprobs'],
  ['`seed`', 'seed', '', '', 'seed'],
  ['reasoning budget, tokens', '', '', 'thinkingBudget', 'thinkingBudget'],
  ['entries of `include`', '', 'include', '', ''],
  ['pairs of `metadata`', '', 'metadataPairs', '', ''],
  ['characters of a `metadata` value', '', 'metadataValueChars', '', ''],
  ['embeddings: inputs', 'embeddings.inputs', '', '', 'embeddings.requests'],
  ['embeddings: `dimensions`', 'embeddings.dimensions', '', '', 'embeddings.dimensions'],
  ['pictures: characters of `prompt`', 'pictures.prompt', '', '', ''],
  ['pictures: `n`', 'pictures.count', '', '', ''],
  ['pictures: `partial_images`', 'pictures.partials', '', '', ''],
  ['pictures: `output_compression`', 'pictures.compression', '', '', ''],
  ['pictures: characters of other text fields', 'pictures.word', '', '', ''],
  ['pictures: input files', 'pictures.files', '', '', ''],
]

const COLUMNS = [CHAT, RESPONSES, MESSAGES, GENERATE].map((limits) => flatten(limits))

function fieldsTable(): string {
  const rows = FIELD_ROWS.map(([label, ...names]) => [
    label,
    ...names.map((name, column) => (name === '' ? '–' : (COLUMNS[column]?.get(name) ?? 'none'))),
  ])
  return table(['field', 'chat-completions', 'responses', 'messages', 'generate-content'], rows)
}

/** The limits that no row of the table names, as `format column: name`. */
export function untoldLimits(): string[] {
  return COLUMNS.flatMap((limits, column) =>
    [...limits.keys()]
      .filter((name) => !FIELD_ROWS.some((row) => row[column + 1] === name))
      .map((name) => `${column}: ${name}`),
  )
}

/** Each limit in words, by its name; those of a group behind the group's name and a dot. */
function flatten(limits: object, prefix = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const [name, value] of Object.entries(limits)) {
    const words = inWords(value)
    if (words === undefined) for (const [inner, text] of flatten(value, `${name}.`)) found.set(inner, text)
    else found.set(prefix + name, words)
  }
  return found
}

type Bounds = Partial<
  Record<'minimum' | 'maximum' | 'minItems' | 'maxItems' | 'minLength' | 'maxLength' | 'maxProperties', number>
>

function inWords(value: number | Bounds): string | undefined {
  if (typeof value === 'number') return `≤ ${figure(value)}`
  const least = value.minimum ?? value.minItems ?? value.minLength
  const most = value.maximum ?? value.maxItems ?? value.maxLength ?? value.maxProperties
  if (most === undefined) return undefined
  if (least === undefined) return `≤ ${figure(most)}`
  return least < 0 ? `${figure(least)} to ${figure(most)}` : `${figure(least)}–${figure(most)}`
}

function figure(value: number): string {
  return value.toLocaleString('en-US')
}

async function ratesTable(): Promise<string> {
  const { limits } = await Bun.file(join(ROOT, 'config', 'catalog.json')).json()
  return table(
    ['limit', 'of a key, and of all keys of an account'],
    [
      ['requests per minute', figure(limits.requestsPerMinute)],
      ['tokens per minute', figure(limits.tokensPerMinute)],
      ['open requests', figure(limits.concurrency)],
    ],
  )
}

function sizesTable(): string {
  const loaded = loadConfig({}, { isSimulated: true })
  assert(loaded.kind === 'loaded', 'the defaults are sound')
  const rows = SIZE_ROWS.map(({ what, value, beyond }) => [what, value(loaded.config), beyond])
  return table(['subject', 'limit', 'beyond it'], rows)
}
