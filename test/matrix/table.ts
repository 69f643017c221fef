/** Writes docs/COMPATIBILITY.md from what the cases declare; that the declarations are true is what the matrix proves. */
import { renderLibraries } from '@test/clients/table'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { renderAudio } from './audio-table'
import { renderBatches } from './batches-table'
import { GROUPS, PROVIDERS_ALONE } from './cases/index'
import { renderDialects } from './dialects-table'
import { renderEmbeddings } from './embeddings-table'
import { noteOn } from './expectation'
import { renderFields } from './fields-table'
import { cellsOf } from './lanes'
import { renderPictures } from './pictures-table'
import { renderRerank } from './rerank-table'
import { ROUND_TRIP_CELLS } from './round-trip'
import { isCarried, type Row, renderRows } from './rows'
import type { Case, Cell, Group } from './types'

const LETTER: Record<FormatName, string> = {
  'chat-completions': 'C',
  messages: 'M',
  'generate-content': 'G',
  responses: 'R',
}
const PAIRS = FORMAT_NAMES.flatMap((client) => FORMAT_NAMES.map((provider) => ({ client, provider })))
const PAIR_NAMES = PAIRS.map(({ client, provider }) => `${LETTER[client]}→${LETTER[provider]}`)

/** The whole document. */
export function renderDocument(): string {
  const cells = GROUPS.flatMap((group) => group.cases.flatMap((declared) => cellsOf(group.name, declared))).length
  const told = GROUPS.filter((group) => !PROVIDERS_ALONE.includes(group))
  return `${[INTRODUCTION(cells), ...told.map(renderGroup), renderProviders(), renderDialects(), renderFields(), renderSignatures(), renderEmbeddings(), renderAudio(), renderPictures(), renderRerank(), renderBatches(), renderLibraries()].join('\n')}`
}

const INTRODUCTION = (cells: number) => `# Compatibility: every client format at every provider format

\`bun run matrix\` writes this file and tests its ${cells} cells and ${ROUND_TRIP_CELLS.length} tool loops. In a cell, a client of one format
calls a scripted provider of another; request, answer and charge must be right.

**C** chat-completions · **M** messages · **G** generate-content · **R** responses

- ✓ carried (a failure: reported in the client's own format)
- ~ answered, with the loss that the note names
- ✗ refused with a 400 that names the field, since omitting it would change the meaning
- · the client's format lacks it
- \`-\` the row is about other providers

Each column is a client's format, with a mark for each provider's format (C M G R), or one for all. Some providers support less than their
format; their [quirks](operations/catalogue.md#formats-and-quirks) state it.

**Repairs.** Within one format, bytes pass unchanged. Fields that break the published schema are corrected, since official clients would fail.
An answer of responses has an id of the gateway; its items keep their provider's ids.

**Finish reasons** that the gateway doesn't know never become a normal stop. Their name decides the nearest kind: filtered (\`…SAFETY…\`,
\`…BLOCK…\`), length (\`…LIMIT…\`), or tool calls. Otherwise other formats get \`content_filter\`, \`refusal\` or \`OTHER\`.

**Dialects** are formats at another address with another credential; the tables apply to them too.
[Some support less than messages](#dialects-that-support-less-than-messages).

**Sources of an answer** (\`url_citation\`, citations, grounding) reach clients of every format:

| provider | C | M | G | R |
|---|---|---|---|---|
| C, R: a page and its place in the text | ✓ | ~² | ✓¹ | ✓ |
| M, Converse: a page cited by a block | ✓¹ | ✓ | ✓¹ | ✓¹ |
| G: a page and its place in the text | ✓¹ | ~² | ✓ | ✓¹ |

1. in a stream: only the page, with the place 0 to 0
2. the page, for the whole block, with the place 0 to 0

Sources in documents and files reach only clients of the provider's format.

**JSON** (schemas, arguments and results of tools, metadata) keeps names and values in every pair, numbers digit by digit. White space,
escapes, and the order of names made of digits may change. If a name occurs twice, the last value is relayed.
`

function renderGroup(group: Group): string {
  const notes: string[] = []
  const rows = group.cases.filter(isOfFormat).map((declared): Row => {
    return { name: declared.name, marks: PAIRS.map((pair) => markOf(group, declared, pair, notes)) }
  })
  const [carried, others] = [rows.filter(isCarried), rows.filter((row) => !isCarried(row))]
  return [
    `## ${group.name}\n`,
    ...(carried.length > 0 ? [`✓ in every pair: ${carried.map(({ name }) => name).join(' · ')}.`, ''] : []),
    ...(others.length > 0 ? [renderPairs(others), ''] : []),
    ...notes.map((note, index) => `${index + 1}. ${note}`),
    ...(notes.length > 0 ? [''] : []),
  ].join('\n')
}

/** Whether a case is about a whole format, and not about providers whose quirks take less. */
function isOfFormat({ providers, quirks }: Case): boolean {
  return providers === undefined || quirks === undefined
}

/** Groups in which nothing is lost, whatever a client asks: their cases are of use to nobody but the tests. */
function renderProviders(): string {
  const cases = PROVIDERS_ALONE.reduce((sum, group) => sum + group.cases.length, 0)
  return `## Streams, shapes and errors of providers

In ${cases} further cases a provider sends odd shapes, errors, or splits between bytes. A client of another format gets the whole answer, or
an error, in its own format. A client of the same format may get an odd shape unchanged.
`
}

/** Few pairs have a column each; all sixteen a column for each client, with a mark for each provider. */
function renderPairs(rows: readonly Row[]): string {
  const used = PAIRS.filter((_, index) => rows.some(({ marks }) => marks[index] !== ''))
  if (used.length <= FORMAT_NAMES.length) return renderRows('', PAIR_NAMES, rows)

  const byClient = rows.map(({ name, marks }): Row => {
    const cells = FORMAT_NAMES.map((_, client) => {
      return FORMAT_NAMES.map((_, provider) => marks[client * FORMAT_NAMES.length + provider] || '-')
    })
    return { name, marks: cells.map((each) => (new Set(each).size === 1 ? `${each[0]}` : each.join(' '))) }
  })
  return renderRows(
    '',
    FORMAT_NAMES.map((client) => LETTER[client]),
    byClient,
  )
}

/** The mark of one cell; its note is added to `notes` unless it is there already. */
function markOf(
  group: Group,
  declared: Case,
  { client, provider }: { client: FormatName; provider: FormatName },
  notes: string[],
): string {
  if (!declared.asks[client]) return '·'
  const cell = cellsOf(group.name, declared).find((each) => each.client === client && each.provider === provider)
  if (!cell) return ''
  const told = noteText(cell)
  if (told === undefined) return '✓'
  if (!notes.includes(told.text)) notes.push(told.text)
  return `${told.mark}${superscript(notes.indexOf(told.text) + 1)}`
}

function noteText(cell: Cell): { mark: string; text: string } | undefined {
  const { refused, because, lost } = noteOn(cell)
  if (refused !== undefined) return { mark: '✗', text: because ?? `“… ${refused} …”` }
  return lost === undefined ? undefined : { mark: '~', text: lost }
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹'

function superscript(value: number): string {
  return String(value).replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] ?? '')
}

function renderSignatures(): string {
  return `## Signatures

In a tool loop, the first answer contains signed reasoning. The client then sends the history and the tools' results.

- The provider that signed gets its signature back unchanged. If the client's format has no place for it, the gateway restores it by the ids
  of the calls.
- If a client of the signer's own format dropped the signature, nothing is restored.
- A provider of another format gets the history without any signature.

`
}
