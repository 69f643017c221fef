/** The part of docs/COMPATIBILITY.md that tells which client libraries are tested, and with what. */
import { javaVersionOf } from './java/environment'
import { JAVA_LIBRARIES } from './java/libraries'
import { LIBRARIES } from './libraries/index'
import { FRAMEWORKS, SCENARIOS } from './python/frameworks'
import { PYTHON_LIBRARIES } from './python/libraries'
import { versionIn } from './python/versions'

const COLUMNS = [
  'text, stream, tools, errors',
  'its own tool runner',
  'counting tokens',
  'arguments in pieces',
  'parsed answers, images, async client, leaving mid-stream',
] as const

/** One row: what the tests of the library ask of it. */
type Row = { name: string; marks: string[] }

/** The section, made of what the tests themselves go by. */
export function renderLibraries(): string {
  const rows = [...LIBRARIES.map(rowOf), ...PYTHON_LIBRARIES.map(pythonRowOf), ...JAVA_LIBRARIES.map(javaRowOf)]
  return `## Client libraries

Each with providers of all four formats, by \`bun run test\` and \`bun run judges\`, in one piece and as a stream: only the key and the base address
are changed. The libraries for Python also run as clients through the rows on tools, answers, streams, dialects and errors above;
those for Java also read a hundred streams at once.

- ✓ tested
- · the library has no such thing
- (empty) left to others

| | ${COLUMNS.join(' | ')} |
|---|${COLUMNS.map(() => ':-:').join('|')}|
${rows.map(lineOf).join('\n')}

With \`bun run clients:python\`, each with its interfaces to all four families, and each of these with providers of all four formats:

| | ${SCENARIOS.map(({ name }) => name).join(' | ')} |
|---|${SCENARIOS.map(() => ':-:').join('|')}|
${FRAMEWORKS.map(frameworkRowOf).map(lineOf).join('\n')}
`
}

function lineOf({ name, marks }: Row): string {
  return `| ${name} | ${marks.join(' | ')} |`
}

function frameworkRowOf({ name, packages }: (typeof FRAMEWORKS)[number]): Row {
  const pinned = packages.map((each) => `${each} ${versionIn('frameworks', each)}`)
  return { name: `${name} (${pinned.join(', ')})`, marks: SCENARIOS.map(() => '✓') }
}

function rowOf({ name, runTools, countTokens }: (typeof LIBRARIES)[number]): Row {
  return { name: `${name} (Node)`, marks: ['✓', markOf(runTools), markOf(countTokens), '', ''] }
}

function pythonRowOf({ name, has }: (typeof PYTHON_LIBRARIES)[number]): Row {
  const optional = (['runTools', 'countTokens', 'pieces'] as const).map((ability) => markOf(has.includes(ability)))
  return { name: `${name} ${versionIn('sdks', name)} (Python)`, marks: ['✓', ...optional, '✓'] }
}

function javaRowOf({ name, artifact, counts }: (typeof JAVA_LIBRARIES)[number]): Row {
  const interfaceOf = name === 'openai-responses' ? ', responses' : ''
  return {
    name: `${artifact}${interfaceOf} ${javaVersionOf(artifact)} (Java)`,
    marks: ['✓', '', markOf(counts), '', ''],
  }
}

function markOf(ability: unknown): string {
  return ability ? '✓' : '·'
}
