/** Writes docs/COMPATIBILITY.md from what the cases declare; that the declarations are true is what the matrix proves. */
import { renderLibraries } from '@test/clients/table'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { GROUPS } from './cases/index'
import { ROUND_TRIPS } from './cases/round-trips'
import { renderEmbeddings } from './embeddings-table'
import { noteOn } from './expectation'
import { renderFields } from './fields-table'
import { cellsOf } from './lanes'
import { isSignedAgain, ROUND_TRIP_CELLS } from './round-trip'
import type { Case, Cell, Group } from './types'

const LETTER: Record<FormatName, string> = {
  'chat-completions': 'C',
  messages: 'M',
  'generate-content': 'G',
  responses: 'R',
}
const PAIRS = FORMAT_NAMES.flatMap((client) => FORMAT_NAMES.map((provider) => ({ client, provider })))

/** The whole document. */
export function renderDocument(): string {
  const cells = GROUPS.flatMap((group) => group.cases.flatMap((declared) => cellsOf(group.name, declared))).length
  return `${[INTRODUCTION(cells), ...GROUPS.map(renderGroup), renderFields(), renderSignatures(), renderEmbeddings(), renderLibraries()].join('\n')}`
}

const INTRODUCTION = (cells: number) => `# Compatibility: every client format to every provider format

This file is written by \`bun run matrix\`, which runs every cell below: the client library of the format asks, a scripted
provider receives exactly what a client of *its* format would have asked, and answers as its documentation says; the client must
see the same answer, strictly framed, and the ledger must charge the same amount, whatever the client's format.
${cells} cells (each pair in one piece and as a stream, generate-content also as a JSON array) and ${ROUND_TRIP_CELLS.length} tool
loops run in \`bun run test\` as well; a test fails where this file and the cases differ.

**C** chat-completions · **M** messages · **G** generate-content · **R** responses; \`C→M\` is a client of chat-completions at a provider of messages.

- ✓ carried: the provider receives it and the client sees it, nothing lost (a failure: told in the client's own shape)
- ~ answered, with the loss that the note tells
- ✗ refused with a 400 that names the field, since leaving it out would change the meaning; nothing is sent or charged
- · the client's format has no way to ask for it
- (empty) the row is about other providers

What passes through within one format keeps its bytes as long as it keeps the published shape. A field that breaks it, so that official
clients throw or lose something, is put right in place: calls without index, id or type or counted from 1, arguments as objects, contents as
parts, roles that are missing or repeated, finish reasons under other names, missing \`object\`, \`choices\`, \`delta\` or usage,
usage beside choices; of responses
and messages, events without their name; of responses, beginnings of items and parts that were left out, ids that change or are missing, missing \`annotations\`, \`summary\`, \`status\`, \`output\` or counts of
the usage, and events of no known name, which are hidden. Each is counted by provider (\`svc_answer_repairs_total\`). An answer of responses has
an id of the gateway's, which later requests may name; its items keep the ids that their provider gave them.

Switches in the catalogue (\`quirks\` of a provider or target) say what a provider can't take; rows that name such a provider show
what changes then.

**Beta interfaces and the version** of messages (\`anthropic-beta\`, \`anthropic-version\`) reach a provider of messages as the caller names them, as far
as they cost tokens and nothing else; what is left out is named in \`x-svc-left-out\`, with the fields of the body that need it, and towards another
format all of it is. [Which](guide/limits-and-headers.md#beta-interfaces); \`test/clients/protocol/betas.test.ts\` proves it.

**Dialects** are one of the formats at another address, with another credential: what the tables say of the format holds for them. Two providers of messages can't take all of it. At Bedrock by
InvokeModel (\`bedrock-invoke\`) and Converse (\`bedrock-converse\`) an image or document by address is a 400 (\`✗\`), and these are left out and named: betas that Bedrock doesn't know, \`service_tier\` and
other fields beyond [what it takes](operations/bedrock.md); by Converse also \`metadata\`, \`tool_choice\` of type \`none\` where the conversation has calls, \`disable_parallel_tool_use\`, \`context_management\`, and \`top_k\` and
thinking of models that have no word for them. \`test/dialects/aws/bedrock-gateway.test.ts\` asks both in all four client formats; \`converse-request.test.ts\` and \`bedrock-invoke.test.ts\` hold what goes out to the clients of AWS and Anthropic.

**Values that are relayed and not read** (what a format can say of a schema, arguments and results of tools, metadata, fields without a meaning here) have the
same names and values on the other side, whatever the pair and the way: strings letter by letter, and numbers digit by digit,
\`1098765432109876543\`, \`-0\`, \`1.0\` and \`1e5\` included, also where arguments are a text in one format and an object in the other.
What may change is what no reader of JSON can tell: white space, escapes in strings, and the place of names of digits alone. Of a name
that is given twice, the last is relayed, since it is the one that was priced.
`

function renderGroup(group: Group): string {
  const notes: string[] = []
  const rows = group.cases.map((declared) => {
    const marks = PAIRS.map((pair) => markOf(group, declared, pair, notes))
    return `| ${declared.name} | ${marks.join(' | ')} |`
  })
  return [
    `## ${group.name}\n`,
    `| | ${PAIRS.map(({ client, provider }) => `${LETTER[client]}→${LETTER[provider]}`).join(' | ')} |`,
    `|---|${PAIRS.map(() => ':-:').join('|')}|`,
    ...rows,
    '',
    ...notes.map((note, index) => `${index + 1}. ${note}`),
    ...(notes.length > 0 ? [''] : []),
  ].join('\n')
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
  return `${told.mark} ${superscript(notes.indexOf(told.text) + 1)}`
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
  const rows = ROUND_TRIPS.flatMap((trip) =>
    (['whole', 'bare'] as const).map((keeps) => {
      const marks = PAIRS.map(({ client, provider: second }) => {
        if (isSignedAgain({ trip, client, second, keeps })) return '✓'
        return second === trip.signedBy ? '~' : '–'
      })
      return `| ${trip.name}, signed by ${LETTER[trip.signedBy]}; history ${keeps} | ${marks.join(' | ')} |`
    }),
  )
  return `## Signatures

A tool loop: the first answer is signed, the client sends the history and the results to the provider of the column. *Whole*: the
client sends back what it was given. *Bare*: it keeps only texts, calls and results, as clients do whose format has no room for
proofs; the gateway then puts back what it kept by the ids of the calls.

- ✓ the provider that signed gets its own proof back, byte for byte
- ~ a client of the signer's own format has thrown the proof away: nothing is put back, as without a gateway
- – another provider is asked: it gets the history without any proof

| | ${PAIRS.map(({ client, provider }) => `${LETTER[client]}→${LETTER[provider]}`).join(' | ')} |
|---|${PAIRS.map(() => ':-:').join('|')}|
${rows.join('\n')}
`
}
