/** Each label, help text, refusal and limit of a field is written once, in the table of its subject. */
import { expect, test } from 'bun:test'
import { BUDGET_FIELDS } from '@/people/budgets/fields'
import { FIELD_ROWS, KEY_NAME, MAX_KEY_LIMIT, MAX_USD_CHARS, POLICY_ROWS } from '@/people/keys/fields'
import { SETTING_ROWS } from '@/people/settings/fields'

const ROWS: readonly object[] = [
  ...FIELD_ROWS,
  ...POLICY_ROWS,
  KEY_NAME,
  ...SETTING_ROWS,
  ...Object.values(BUDGET_FIELDS),
]

/** The texts of a row, at any depth; names that programs use are no texts. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

/** A single word, such as `Name` or `Day`, is a label of other things as well. */
const TEXTS = [...new Set(ROWS.flatMap(textsOf))].filter((text) => text.includes(' '))

/** Short words that other things are called by as well. */
const OF_OTHERS: ReadonlySet<string> = new Set(['Works until', 'No limit', 'a day'])

/** Numbers of this size and above mean a limit; smaller ones mean many things. */
const LEAST_LIMIT = 20
const LIMITS = [
  ...ROWS.flatMap((row) => ('items' in row ? Object.values(row.items as Record<string, number>) : [])),
  ...ROWS.flatMap((row) => ('most' in row ? [Number(row.most)] : [])),
  ...[MAX_KEY_LIMIT, MAX_USD_CHARS],
].filter((limit) => limit >= LEAST_LIMIT)

const IS_TABLE = /^people\/(?:\w+\/)?fields\.ts$/
/** The schemas and forms of these fields. */
const OF_FIELDS =
  /^people\/(?:(?:keys|budgets)\/(?:bodies|key-lists|allowed-lists|pages\/[\w-]+)\.tsx?|\w+\.tsx)$|^dashboard\/components\/fields\/allowed-fields\.tsx$/

const SOURCES = [...new Bun.Glob('**/*.{ts,tsx}').scanSync('src')].filter((path) => !IS_TABLE.test(path)).sort()
const texts = new Map(
  await Promise.all(SOURCES.map(async (path) => [path, await Bun.file(`src/${path}`).text()] as const)),
)

function sourcesWith(pattern: RegExp, isMeant: (path: string) => boolean): string[] {
  return SOURCES.filter((path) => isMeant(path) && pattern.test(texts.get(path) ?? ''))
}

const quoted = (text: string) => new RegExp(`['"\`>]\\s*${RegExp.escape(text)}\\s*['"\`<]`)

test.each(TEXTS.filter((text) => !OF_OTHERS.has(text)))(
  'the text “%s” is only written in a table of fields',
  (text) => {
    expect(sourcesWith(quoted(text), () => true)).toEqual([])
  },
)

test.each([...new Set(LIMITS)])('the limit %d of a field is only written in a table of fields', (limit) => {
  const written = String(limit).replace(/\B(?=(\d{3})+$)/g, '_?')
  const asLimit = new RegExp(
    `(?:\\b(?:maximum|maxLength|maxItems|max|most|chars)(?:=\\{|: )|const MAX_\\w+ = )${written}\\b`,
  )
  expect(sourcesWith(asLimit, (path) => OF_FIELDS.test(path))).toEqual([])
})
