/** The part of docs/COMPATIBILITY.md that tells which client libraries are tested, and with what. */
import { type Row, renderRows } from '@test/matrix/rows'
import { javaVersionOf } from './java/environment'
import { JAVA_LIBRARIES } from './java/libraries'
import { LIBRARIES } from './libraries/index'
import { FRAMEWORKS, SCENARIOS } from './python/frameworks'
import { PYTHON_LIBRARIES } from './python/libraries'
import { versionIn } from './python/versions'

const COLUMNS = ['text, stream, tools, errors', 'its own tool runner', 'counting tokens'] as const

/** The section, made of what the tests themselves go by. */
export function renderLibraries(): string {
  const rows = [...LIBRARIES.map(rowOf), ...PYTHON_LIBRARIES.map(pythonRowOf), ...JAVA_LIBRARIES.map(javaRowOf)]
  return `## Client libraries

Each library (for Node, unless named) is tested with providers of all four formats, whole and streamed.

- ✓ tested
- · the library lacks it
- (empty) not tested

${renderRows('', COLUMNS, rows)}

\`bun run clients:python\` also tests ${FRAMEWORKS.map(frameworkName).join(' and ')}: ${SCENARIOS.map(({ name }) => name).join(', ')}.
`
}

function frameworkName({ name, packages }: (typeof FRAMEWORKS)[number]): string {
  return `${name} (${packages.map((each) => `${each} ${versionIn('frameworks', each)}`).join(', ')})`
}

function rowOf({ name, runTools, countTokens }: (typeof LIBRARIES)[number]): Row {
  return { name, marks: ['✓', markOf(runTools), markOf(countTokens)] }
}

function pythonRowOf({ name, has }: (typeof PYTHON_LIBRARIES)[number]): Row {
  const optional = (['runTools', 'countTokens'] as const).map((ability) => markOf(has.includes(ability)))
  return { name: `${name} ${versionIn('sdks', name)} (Python)`, marks: ['✓', ...optional] }
}

function javaRowOf({ name, artifact, counts }: (typeof JAVA_LIBRARIES)[number]): Row {
  const interfaceOf = name === 'openai-responses' ? ', responses' : ''
  return {
    name: `${artifact}${interfaceOf} ${javaVersionOf(artifact)} (Java)`,
    marks: ['✓', '', markOf(counts)],
  }
}

function markOf(ability: unknown): string {
  return ability ? '✓' : '·'
}
