/**
 * Reads the fields of a request body out of the typings of the official client libraries, as they are installed. Run it to
 * write the list anew after an update: `bun test/formats/api-typings.ts`.
 */
import { join } from 'node:path'
import { type ParseResult, parse } from '@babel/parser'
import type { FormatName } from '@/chat/format-name'

/** Where a format's body is declared: the typings of a package, and the interfaces that together are the body. */
type Source = { package: string; file: string; interfaces: readonly string[] }

const SOURCES: readonly [FormatName, Source][] = [
  [
    'chat-completions',
    {
      package: 'openai',
      file: 'resources/chat/completions/completions.d.ts',
      interfaces: ['ChatCompletionCreateParamsBase'],
    },
  ],
  [
    'messages',
    {
      package: '@anthropic-ai/sdk',
      file: 'resources/messages/messages.d.ts',
      interfaces: ['MessageCreateParamsBase'],
    },
  ],
  [
    'messages',
    {
      package: '@anthropic-ai/sdk',
      file: 'resources/beta/messages/messages.d.ts',
      interfaces: ['MessageCreateParamsBase'],
    },
  ],
  [
    'generate-content',
    {
      package: '@google/genai',
      file: 'dist/genai.d.ts',
      interfaces: ['GenerateContentParameters', 'GenerateContentConfig'],
    },
  ],
  [
    'responses',
    {
      package: 'openai',
      file: 'resources/responses/responses.d.ts',
      interfaces: ['ResponseCreateParamsBase'],
    },
  ],
]

export const LIST_FILE = join(import.meta.dir, 'api-fields.json')

/** By format, the names of all fields in order. */
export async function readFields(): Promise<Record<string, string[]>> {
  const fields = new Map<string, Set<string>>()
  for (const [format, source] of SOURCES) {
    const text = await Bun.file(join(import.meta.dir, '../../node_modules', source.package, source.file)).text()
    const names = fields.get(format) ?? new Set()
    for (const name of namesIn(text, source.interfaces)) names.add(name)
    fields.set(format, names)
  }
  return Object.fromEntries([...fields].map(([format, names]) => [format, [...names].sort()]))
}

function namesIn(text: string, interfaces: readonly string[]): string[] {
  const { program } = parse(text, { sourceType: 'module', plugins: [['typescript', { dts: true }]] })
  return program.body.flatMap((statement) => fieldsOf(statement, interfaces))
}

/** Of an interface of such a name, or of those in a namespace. */
type Statement = ParseResult['program']['body'][number]

function fieldsOf(statement: Statement, interfaces: readonly string[]): string[] {
  const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
  if (declared?.type === 'TSModuleDeclaration' && declared.body.type === 'TSModuleBlock')
    return declared.body.body.flatMap((inner) => fieldsOf(inner, interfaces))
  const isMeant = declared?.type === 'TSInterfaceDeclaration' || declared?.type === 'ClassDeclaration'
  if (!isMeant || !declared.id || !interfaces.includes(declared.id.name)) return []
  return declared.body.body.flatMap((member) => {
    const isField = member.type === 'TSPropertySignature' || member.type === 'ClassProperty'
    return isField && member.key.type === 'Identifier' ? [member.key.name] : []
  })
}

/** Where what stands inside a body is declared: interfaces, or choices between some. */
const INSIDE = {
  'chat-completions': {
    file: 'openai/resources/chat/completions/completions.d.ts',
    tools: ['ChatCompletionTool'],
    parts: ['ChatCompletionContentPart', 'ChatCompletionContentPartRefusal'],
    turns: ['ChatCompletionMessageParam', 'ChatCompletionMessage'],
    calls: ['ChatCompletionMessageToolCall'],
  },
  messages: {
    file: '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts',
    tools: ['BetaToolUnion'],
    parts: ['BetaContentBlockParam', 'BetaToolReferenceBlockParam', 'BetaBrowserStateBlockParam'],
    turns: ['BetaMessageParam'],
    calls: ['BetaToolUseBlockParam'],
  },
  responses: {
    file: 'openai/resources/responses/responses.d.ts',
    tools: ['Tool'],
    parts: ['ResponseInputContent', 'ResponseOutputText', 'ResponseOutputRefusal', 'ResponseFunctionCallOutputItem'],
    turns: ['ResponseInputItem', 'ResponseOutputItem'],
    calls: ['ResponseFunctionToolCall', 'ResponseCustomToolCall'],
  },
  'generate-content': {
    file: '@google/genai/dist/genai.d.ts',
    tools: ['FunctionDeclaration'],
    parts: ['Part'],
    turns: ['Content'],
    calls: ['FunctionCall'],
  },
} as const satisfies Record<FormatName, { file: string } & Record<Inside, readonly string[]>>

/** What stands in a body: its tools, the messages (or items, or contents) of the conversation, their parts, and calls of functions. */
export type Inside = 'tools' | 'turns' | 'parts' | 'calls'

/** The names of all fields that there are in one of these. */
export async function readInside(format: FormatName, what: Inside): Promise<string[]> {
  const { file, ...declared } = INSIDE[format]
  const text = await Bun.file(join(import.meta.dir, '../../node_modules', file)).text()
  const names = declared[what].flatMap((one) => {
    const choice = new RegExp(`export (?:declare )?type ${one} = ([^;]+);`).exec(text)?.[1]?.split('|')
    if (new RegExp(`^export (?:declare )?interface ${one} `, 'm').test(text)) return [one]
    return choice?.map((name) => name.trim().replace(/^.*\./, '')) ?? [one]
  })
  return namesIn(text, names)
}

/** The names of all fields of these interfaces. */
export async function readInterfaces(file: string, interfaces: readonly string[]): Promise<string[]> {
  return namesIn(await Bun.file(join(import.meta.dir, '../../node_modules', file)).text(), interfaces)
}

if (import.meta.main) await Bun.write(LIST_FILE, `${JSON.stringify(await readFields(), null, 2)}\n`)
